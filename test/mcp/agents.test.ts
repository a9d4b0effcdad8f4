import { spawnSync } from 'node:child_process'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import createClient from 'openapi-fetch'
import t from 'tap'
import { runCommand } from '../support/page-commands.ts'
import { createService, testKeys } from '../support/service.ts'
import { connect, textAt, type Era } from './clients.ts'

const sum = `#!/usr/bin/env node
const { numbers } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))
if (numbers.length === 0) {
  console.error('nothing to add')
  process.exit(1)
}
console.log(JSON.stringify({ sum: numbers.reduce((sum, each) => sum + each, 0), of: 'ä "quoted"\\n' }))
`
const schema = { type: 'object', properties: { numbers: { type: 'array', items: { type: 'number' } } }, required: ['numbers'] }
const { api, client: http } = await createService(t, {
  files: { 'tools/bin/sum': sum }, tools: [{ name: 'sum', description: 'Adds numbers', schema, command: ['./tools/bin/sum'] }]
})
const skip = spawnSync('curl', ['--version']).status !== 0 && 'no curl here'

/** An agent's view of a call: the output, or the code and message of its failure. */
interface Learned { output?: unknown, code?: unknown, message?: unknown }
type Agent = (numbers: unknown) => Promise<Learned>

function failure (error: { code?: unknown, message?: unknown } | undefined): Learned {
  return { code: error?.code, message: error?.message }
}

async function mcpAgent (era: Era): Promise<Agent> {
  const { client } = await connect(t, api.address, testKeys.admin, era)
  return async numbers => {
    const { structuredContent, isError, content, _meta } = await client.callTool({ name: 'sum', arguments: { numbers } })
    if (isError !== true) return { output: structuredContent }
    return failure({ ..._meta?.['toolyard/error'] as object, message: textAt({ content }).split('\n\n')[0] })
  }
}

/** Uses what it has read of the document, and nothing of Toolyard's. */
async function importer (): Promise<Agent> {
  const answer = await fetch(`${api.address}/openapi.json?tools=only`, { headers: { 'x-api-key': testKeys.admin } })
  const document = await answer.json() as OpenAPI3
  const types = astToString(await openapiTS(document))
  t.match(types, /"\/v1\/tools\/sum"/, 'a generated client knows the tool')
  const [[path, operations] = ['']] = Object.entries(document.paths ?? {}).filter(([, each]) => (each as { post?: { operationId?: string } }).post?.operationId === 'sum')
  t.ok(operations)
  const client = createClient<Record<string, { post: { requestBody: { content: { 'application/json': unknown } }, responses: object } }>>({
    baseUrl: document.servers?.[0]?.url ?? '', headers: { 'x-api-key': testKeys.admin }
  })
  return async numbers => {
    const { data, error } = await client.POST(path, { body: { numbers } }) as { data?: unknown, error?: { error: object } }
    return error === undefined ? { output: data } : failure(error.error)
  }
}

const curl: Agent = async numbers => {
  const command = 'curl -sS "$URL/v1/tools/sum" -H "x-api-key: $KEY" -H "content-type: application/json" -d "$BODY"'
  const { status, output } = await runCommand(command, { URL: api.address, KEY: testKeys.admin, BODY: JSON.stringify({ numbers }) })
  t.equal(status, 0)
  const body = JSON.parse(output) as { error?: object }
  return body.error === undefined ? { output: body } : failure(body.error)
}

t.test('an MCP client of each era, an OpenAPI importer, curl and a batch get the same result of the same tool', { skip }, async t => {
  const agents: Record<string, Agent> = {
    'MCP 2025': await mcpAgent('2025-11-25'),
    'MCP 2026': await mcpAgent('2026-07-28'),
    OpenAPI: await importer(),
    curl,
    batch: async numbers => {
      const result = await http.call('sum', { numbers })
      return result.ok ? { output: result.output } : failure(result.error)
    }
  }
  for (const [name, ask] of Object.entries(agents)) {
    t.strictSame(await ask([1, 2, 3.5]), { output: { sum: 6.5, of: 'ä "quoted"\n' } }, name)
    t.strictSame(await ask([]), { code: 'TOOL_FAILED', message: 'nothing to add' }, name)
    t.match(await ask(['1']), { code: 'INVALID_ARGUMENTS', message: /numbers/ }, name)
  }
})
