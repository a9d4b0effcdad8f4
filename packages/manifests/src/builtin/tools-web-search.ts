import type { BuiltinDeclaration } from './declaration.ts'

export const toolsWebSearch: BuiltinDeclaration = {
  name: 'tools_web_search',
  jobType: 'tools.web_search',
  description: 'Search the web. Returns title, url and snippet of each result.',
  timeoutSec: 60,
  idempotent: true,
  permissions: ['network'],
  parameters: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, maxLength: 400 },
      max_results: { type: 'integer', minimum: 1, maximum: 20 },
      provider: { type: 'string', enum: ['duckduckgo', 'brave', 'searxng'], description: 'Leave it out for the configured one.' }
    },
    required: ['query'],
    additionalProperties: false
  }
}
