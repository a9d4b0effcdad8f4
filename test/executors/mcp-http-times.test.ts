import type { ServerResponse } from 'node:http'
import t from 'tap'
import { mcpDigest } from '@toolyard/contract/mcp-digest'
import { waitFor } from '../support/condition.ts'
import { answered, opening, serveMcp } from '../support/mcp-server.ts'
import { openExecutors, testTool } from '../support/tool.ts'
import { described } from './mcp-fixture.ts'

/** undici measures long times by how often this timer was heard. */
const beatMs = 499
const beats = new Set<() => void>()
const given = globalThis.setTimeout
t.intercept(globalThis, 'setTimeout', {
  value: Object.assign((act: () => void, ms?: number, ...rest: []) => {
    if (ms === beatMs) beats.add(act)
    return given(act, ms, ...rest)
  }, given)
})

const resultOf = (id: number): string => JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'said' }] } })

const slow: Record<string, (response: ServerResponse, id: number) => () => void> = {
  'has said nothing': (response, id) => () => { response.writeHead(200, { 'content-type': 'application/json' }).end(resultOf(id)) },
  'has begun a stream': (response, id) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': here\n\n')
    return () => { response.end(`data: ${resultOf(id)}\n\n`) }
  }
}
for (const [what, begin] of Object.entries(slow)) {
  t.test(`a server that ${what} for ten minutes may still answer: the time of the call is the only limit`, async t => {
    let finish: (() => void) | undefined
    const { url } = await serveMcp(t, ({ id, method, response }) => {
      if (method !== 'tools/call' || id === undefined) return opening(method, [described('probe')])
      finish = begin(response, id)
      return answered
    })
    const source = { format: 'agentcli', file: '/manifest/tools.json', index: 0 } as const
    const server = { name: 'far', connection: { kind: 'http', url, headers: {} }, prefix: 'far_', filter: [], source, lock: '/manifest/tools.lock.json' } as const
    const tool = testTool({ kind: 'mcp', server, remote: 'probe', digest: mcpDigest(described('probe')) })
    const outcome = openExecutors(t).run(tool, {}, { jobId: 'job-1', timeoutMs: 3_600_000, signal: new AbortController().signal, log: () => {} })
    const end = await waitFor('the call has come', () => finish)
    t.ok(beats.size > 0)
    for (let ms = 0; ms < 600_000; ms += beatMs) for (const beat of beats) beat()
    end()
    t.match(await outcome, { ok: true })
  })
}
