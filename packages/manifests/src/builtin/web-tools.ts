import { closedObject, type BuiltinDeclaration } from './declaration.ts'
import { listed } from './policy.ts'

export function dataFetch (allowed: readonly string[] = []): BuiltinDeclaration {
  return {
    name: 'data_fetch',
    jobType: 'data.fetch',
    description: `Read a web page by https. HTML comes as text, JSON parsed in body_json. Allowed domains, with their subdomains: ${listed(allowed)}.`,
    timeoutSec: 60,
    idempotent: true,
    permissions: ['network'],
    parameters: closedObject({
      url: { type: 'string', minLength: 1, description: 'Absolute URL, https://...' },
      max_bytes: { type: 'integer', minimum: 512, maximum: 2_097_152, description: 'How much of the body to read.' },
      raw: { type: 'boolean', default: false, description: 'HTML as it is, not as text.' },
      timeout_ms: { type: 'integer', minimum: 100, maximum: 60_000 }
    }, ['url'])
  }
}

export const toolsWebSearch: BuiltinDeclaration = {
  name: 'tools_web_search',
  jobType: 'tools.web_search',
  description: 'Search the web. Returns title, url and snippet of each result.',
  timeoutSec: 60,
  idempotent: true,
  permissions: ['network'],
  parameters: closedObject({
    query: { type: 'string', minLength: 1, maxLength: 400 },
    max_results: { type: 'integer', minimum: 1, maximum: 20 },
    provider: { type: 'string', enum: ['duckduckgo', 'brave', 'searxng'], description: 'Leave it out for the configured one.' }
  }, ['query'])
}
