import { loadRegistry } from '@toolyard/manifests'
import { createServer, request, type Agent as HttpAgent, Agent } from 'node:http'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createService, testKeys } from '../../support/service.ts'
import { listening } from '../../support/listening.ts'
import { valueAtMost, type Stage } from '../frame/row.ts'
import { p50 } from '../sample.ts'

const names = ['path', 'pattern', 'limit', 'mode', 'reverse']

export const manyTools: Stage = {
  title: '1,000 tools',
  rows: {
    'tools-load': { what: 'a manifest of 1,000 tools is read, checked and merged', yardstick: 'JSON.parse of the file alone', unit: 'ms', target: valueAtMost(100) },
    'tools-reload': { what: 'it is read again after one tool has changed', yardstick: 'JSON.parse of the file alone', unit: 'ms', target: valueAtMost(30) },
    'tools-list': { what: 'GET /v1/agent-tools, p50', yardstick: 'a bare HTTP server that sends the same bytes', unit: 'ms' }
  },
  open: async ({ cleanup, size }) => {
    const tools = Array.from({ length: size(1_000, 50) }, (_, index) => toolEntry(index))
    const service = await createService(cleanup, { tools, workers: 0, env: { LOG_LEVEL: 'warn' } })
    const file = join(service.dir, 'tools.json')
    const load = async (): ReturnType<typeof loadRegistry> => await loadRegistry({ manifests: [file], builtins: false })
    let registry = await load()
    if (registry.all().length < tools.length) throw new Error(`only ${registry.all().length} tools were loaded: ${JSON.stringify(registry.findings.slice(0, 3))}`)
    const parse = async (): Promise<unknown> => JSON.parse(await readFile(file, 'utf8')) as unknown
    const agent = new Agent({ keepAlive: true })
    cleanup.teardown(() => { agent.destroy() })
    const url = `${service.api.address}/v1/agent-tools`
    const bytes = await get(agent, url)
    const bare = createServer((_request, response) => { response.setHeader('content-type', 'application/json').end(bytes) })
    const bareUrl = `http://127.0.0.1:${await listening(cleanup, bare)}/`
    return {
      'tools-load': { yardstick: async () => await p50(size(5, 1), parse), subject: async () => await p50(1, load) },
      'tools-reload': {
        yardstick: async () => await p50(size(5, 1), parse),
        subject: async round => {
          await writeFile(file, JSON.stringify({ tools: [{ ...tools[0], description: `Changed ${round} times.` }, ...tools.slice(1)] }))
          return await p50(1, async () => { registry = await registry.reload() })
        }
      },
      'tools-list': { yardstick: async () => await p50(size(30, 2), async () => await get(agent, bareUrl)), subject: async () => await p50(size(30, 2), async () => await get(agent, url)) }
    }
  }
}

function toolEntry (index: number): object {
  const properties = Object.fromEntries(names.map(name => [name, { type: 'string', description: `The ${name} of tool ${index}.`, maxLength: 100 + index }]))
  return { name: `tool_${index}`, description: `Does what tool ${index} of many does.`, command: ['/bin/cat'], schema: { type: 'object', properties, required: ['path'], additionalProperties: false } }
}

async function get (agent: HttpAgent, url: string): Promise<Buffer> {
  const sent = request(url, { agent, headers: { 'x-api-key': testKeys.read } }).end()
  const [response] = await once(sent, 'response') as [NodeJS.ReadableStream & { statusCode: number }]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(Buffer.from(chunk))
  if (response.statusCode !== 200) throw new Error(`${url} answered ${response.statusCode}: ${Buffer.concat(chunks).toString().slice(0, 200)}`)
  return Buffer.concat(chunks)
}
