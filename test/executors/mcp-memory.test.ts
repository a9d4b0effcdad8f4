import t, { type Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { bytesInUse } from '../support/garbage.ts'
import { open, type Calls } from './mcp-fixture.ts'

t.setTimeout(120_000)

const patient = { timeoutMs: 60_000 }

/** Its server is open, so that this is no part of what is measured. */
async function opened (t: Test, options: Parameters<typeof open>[2] = {}): Promise<Calls> {
  const calls = open(t, [''], options)
  await calls.call('strays', { count: 1, bytes: 1 })
  return calls
}

async function staysBelow (t: Test, mostBytes: number, before: number): Promise<void> {
  // A call that has ended takes a turn or two of the event loop to be gone.
  await waitFor('memory is as before', () => bytesInUse() - before < mostBytes).catch(() => {})
  t.ok(bytesInUse() - before < mostBytes, `${Math.round((bytesInUse() - before) / 1e6)} MB more`)
}

t.test('results that no call waits for are dropped, and too many of them end the server', async t => {
  const calls = await opened(t)
  const before = bytesInUse()
  t.match(await calls.call('strays', { count: 600, bytes: 50_000 }, patient), { ok: true, output: 'sent' })
  await staysBelow(t, 15e6, before)
  t.match(await calls.call('strays', { count: 4_000, bytes: 10 }, patient), { ok: false, error: { message: /more than 200 messages a second that nobody asked for/ } })
})

t.test('the result of a call that has timed out is dropped when it comes', async t => {
  const calls = await opened(t)
  const before = bytesInUse()
  for (let round = 0; round < 8; round++) {
    await Promise.all(Array.from({ length: 50 }, async () => await calls.call('late', { bytes: 60_000 }, { timeoutMs: 300 })))
  }
  const last = await calls.call('strays', { count: 0 })
  t.ok(last.ok, `what is late has been read: ${JSON.stringify(last)}`)
  await staysBelow(t, 15e6, before)
})

t.test('a result that says neither that the call failed nor that it did not is refused and dropped', async t => {
  const calls = await opened(t)
  const before = bytesInUse()
  for (let at = 0; at < 20; at++) {
    const result = { content: [{ type: 'text', text: 'x'.repeat(2_000_000) }], isError: 'no' }
    t.match(await calls.call('raw', { result }), { ok: false, error: { code: 'OUTPUT_INVALID' } })
  }
  await staysBelow(t, 15e6, before)
})
