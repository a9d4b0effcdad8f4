import { loadRegistry } from '@toolyard/manifests'
import { Agent, request } from 'node:http'
import { once } from 'node:events'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Cleanup } from '../../support/cleanup.ts'
import { createService, testKeys } from '../../support/service.ts'
import { valueAtMost, type Stage } from '../frame/row.ts'
import { qualityQuestions, qualityTools } from '../quality/read-quality.ts'
import { p50, quantile, timesOf } from '../sample.ts'

const deeds = ['create', 'delete', 'list', 'update', 'archive', 'export', 'approve', 'assign', 'read', 'find']
const words = ['invoice', 'customer', 'shipment', 'warehouse', 'employee', 'meeting', 'ticket', 'deployment', 'campaign', 'refund']

/** A catalogue of commands and HTTP requests. */
export const catalogue: Stage = {
  title: '10,000 tools',
  rows: {
    'catalogue-load': { what: 'manifests of 10,000 tools are read, checked and merged', unit: 'ms', target: valueAtMost(800) },
    'catalogue-memory': { what: 'what a registry of them holds', unit: 'MB', target: valueAtMost(60) },
    'catalogue-304': { what: 'GET /v1/agent-tools that finds its ETag unchanged, p50', unit: 'ms', target: valueAtMost(2) },
    'catalogue-search': { what: 'GET /v1/agent-tools?search=, p99', unit: 'ms', target: valueAtMost(10) },
    'catalogue-found': {
      what: 'of 100 questions over 1,455 real tools, those with the tool among the first five', unit: 'number', target: { of: 'value', bound: 'at least', number: 95 }
    }
  },
  open: async ({ cleanup, size }) => {
    const tools = Array.from({ length: size(10_000, 100) }, (_, index) => toolEntry(index))
    const service = await createService(cleanup, { tools, workers: 0, env: { LOG_LEVEL: 'warn' } })
    const file = join(service.dir, 'tools.json')
    const load = async (): ReturnType<typeof loadRegistry> => await loadRegistry({ manifests: [file], builtins: false })
    const count = (await load()).all().length
    if (count < tools.length) throw new Error(`only ${count} tools were loaded`)
    const agent = new Agent({ keepAlive: true })
    cleanup.teardown(() => { agent.destroy() })
    const ask = async (query: string, headers: Record<string, string> = {}): Promise<{ status: number | undefined, etag: string }> => {
      const sent = request(`${service.api.address}/v1/agent-tools${query}`, { agent, headers: { 'x-api-key': testKeys.read, ...headers } }).end()
      const [response] = await once(sent, 'response') as [NodeJS.ReadableStream & { statusCode?: number, headers: Record<string, string> }]
      response.resume()
      await once(response, 'end')
      return { status: response.statusCode, etag: response.headers['etag'] ?? '' }
    }
    const { etag } = await ask('')
    const known = await ask('', { 'if-none-match': etag })
    if (known.status !== 304) throw new Error(`the list that is known was answered with ${known.status}`)
    await ask('?search=invoice')
    let at = 0
    const search = async (): Promise<unknown> => await ask(`?search=${deeds[at % 10]}+the+${words[++at % 10]}+of+a+customer`)
    return {
      'catalogue-load': { rounds: 3, subject: async () => await p50(1, load) },
      'catalogue-memory': { rounds: 1, subject: async () => await heldBy(load) },
      'catalogue-304': { subject: async () => await p50(size(50, 2), async () => await ask('', { 'if-none-match': etag })) },
      'catalogue-search': { subject: async () => quantile(await timesOf(size(200, 2), search), 0.99) },
      'catalogue-found': { rounds: 1, subject: async () => await shareFound(cleanup) }
    }
  }
}

/** Of 100 questions. */
async function shareFound (cleanup: Cleanup): Promise<number> {
  const { api } = await createService(cleanup, { tools: qualityTools(), workers: 0, env: { LOG_LEVEL: 'warn' } })
  const questions = qualityQuestions()
  let found = 0
  for (const { query, tools } of questions) {
    const answer = await fetch(`${api.address}/v1/agent-tools?limit=5&search=${encodeURIComponent(query)}`, { headers: { 'x-api-key': testKeys.read } })
    const list = await answer.text()
    if (tools.some(name => list.includes(`"${name}"`))) found += 1
  }
  return 100 * found / questions.length
}

function toolEntry (index: number): object {
  const [deed, word] = [deeds[index % 10], words[Math.floor(index / 10) % 10]]
  const schema = {
    type: 'object',
    properties: {
      id: { type: 'integer', minimum: 0 },
      name: { type: 'string', maxLength: 100, description: `The name of ${word} ${index}.` },
      tags: { type: 'array', items: { type: 'string' } },
      [`field_${index}`]: { type: 'string', enum: ['a', 'b', 'c'] }
    },
    required: ['id'],
    additionalProperties: false
  }
  const common = { name: `${deed}_${word}_${index}`, description: `Can ${deed} ${word} number ${index} of a customer.`, schema }
  return index % 5 === 4 ? { ...common, http: { method: 'POST', url: `https://api.example.com/v1/${word}/${index}` } } : { ...common, command: ['/bin/cat'] }
}

/** Megabytes that what is made keeps from the garbage collector. */
async function heldBy (make: () => Promise<unknown>): Promise<number> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = (): number => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = held()
  const made = await make()
  const after = held()
  return made === undefined ? NaN : (after - before) / 1e6
}
