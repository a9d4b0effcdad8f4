import type { ServerResponse } from 'node:http'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { bytesInUse } from '../support/garbage.ts'
import { outputOf } from './fixture.ts'
import { described, open } from './mcp-fixture.ts'
import { answered, opening, serveMcp } from '../support/mcp-server.ts'

t.setTimeout(200_000)

const patient = { timeoutMs: 120_000 }

/** The most that this process uses while something is done, beside what it used before. */
async function peakOf (act: () => Promise<void>): Promise<number> {
  const before = bytesInUse()
  let peak = before
  let ended = false
  const sample = (): void => {
    peak = Math.max(peak, bytesInUse())
    if (!ended) setTimeout(sample, 500)
  }
  setTimeout(sample, 500)
  await act().finally(() => { ended = true })
  return peak - before
}

const crumbs = 60_000
const output = 'x'.repeat(crumbs)

t.test('a message that a server writes byte by byte costs no more than another one', async t => {
  const calls = open(t, [''])
  await calls.call('pid')
  const peak = await peakOf(async () => { t.equal(outputOf(await calls.call('crumbs', { bytes: crumbs }, patient)), output) })
  t.ok(peak < 5e6, `${(peak / 1e6).toFixed(1)} MB more`)
})

/** The beginning of an answer's bodies, the small pieces that follow, and the end. */
type Body = (id: number) => [start: string, piece: string, end: string]
const start = (id: number): string => `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`
const bodies: Record<string, { type: string, body: Body, output: string }> = {
  'an answer byte by byte': { type: 'application/json', body: id => [start(id), 'x', '"}]}}'], output },
  'an event byte by byte': { type: 'text/event-stream', body: id => [`data: ${start(id)}`, 'x', '"}]}}\n\n'], output },
  'an event in empty lines': { type: 'text/event-stream', body: id => ['data: \n', 'data:\n', `data: ${start(id)}x"}]}}\n\n`], output: 'x' }
}

for (const [what, { type, body, output }] of Object.entries(bodies)) {
  t.test(`a server with a URL that sends ${what} costs no more than with another message`, async t => {
    const { url } = await serveMcp(t, ({ id, method, response }) => {
      if (method !== 'tools/call' || id === undefined) return opening(method, [described('echo')])
      void sendSlowly(response.writeHead(200, { 'content-type': type }), body(id))
      return answered
    })
    const calls = open(t, [], { http: { privateHosts: ['127.0.0.1'] } }, { connection: { kind: 'http', url, headers: {} } })
    const peak = await peakOf(async () => { t.equal(outputOf(await calls.call('echo', {}, patient)), output) })
    t.ok(peak < 5e6, `${(peak / 1e6).toFixed(1)} MB more`)
  })
}

/** A piece in each turn of the event loop, which also receives it; the end comes when memory has been measured. */
async function sendSlowly (response: ServerResponse, [start, piece, end]: ReturnType<Body>): Promise<void> {
  response.socket?.setNoDelay(true)
  response.write(start)
  for (let left = crumbs; left > 0; left--) {
    response.write(piece)
    await turn()
  }
  await sleep(1_500)
  response.end(end)
}
