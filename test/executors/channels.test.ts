import t from 'tap'
import { createFixture, outputOf } from './fixture.ts'

t.test('a call reads its own arguments to their end, however long those of the previous call were', async t => {
  const fixture = createFixture(t)
  t.equal(outputOf(await fixture.runShell('wc -c', { arguments: { text: 'x'.repeat(100_000) } })), 100_011)
  t.strictSame(outputOf(await fixture.runShell('cat', { arguments: { a: 1 } })), { a: 1 })
  t.strictSame(outputOf(await fixture.runShell('cat', { arguments: { text: 'y'.repeat(10_000) } })), { text: 'y'.repeat(10_000) })
  t.strictSame(outputOf(await fixture.runShell('cat')), {})
})

t.test('output that nobody read before a timeout does not appear in the next call', async t => {
  const fixture = createFixture(t, { maxOutputBytes: 100 })
  t.match(await fixture.runShell('yes spilled & yes spilled >&2', { timeoutMs: 300 }), { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  for (let call = 0; call < 3; call++) t.strictSame(outputOf(await fixture.runShell('cat', { arguments: { call } })), { call })
})

t.test('a tool that changes the mode of its stdin, or writes to it, changes no other call', { skip: process.platform !== 'linux' }, async t => {
  const fixture = createFixture(t)
  const damage = [
    'chmod 0 /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2',
    'chmod 7777 /proc/$$/fd/1',
    'echo "{\\"forged\\": true}" > /proc/self/fd/0',
    'head -c 300000 /dev/zero > /proc/self/fd/0'
  ]
  for (const script of damage) {
    await fixture.runShell(script, { arguments: { secret: 'of the first' } })
    t.strictSame(outputOf(await fixture.runShell('cat', { arguments: { script } })), { script }, script)
  }
})

t.test('many calls at the same time each get their own arguments, again and again', async t => {
  const fixture = createFixture(t)
  for (let round = 0; round < 3; round++) {
    const given = Array.from({ length: 30 }, (_, call) => ({ round, call, padding: 'p'.repeat(call * 50) }))
    const outcomes = await Promise.all(given.map(async args => await fixture.runShell('cat', { arguments: args })))
    t.strictSame(outcomes.map(outputOf), given)
  }
})
