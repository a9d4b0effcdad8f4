import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { boxedTools, withoutBox } from '../sandbox/boxed-tools.ts'
import { nap, running } from '../sandbox/running.ts'
import { waitFor } from '../support/condition.ts'

const skip = await withoutBox()

void t.test('fault 1 after a timeout nothing of a box is alive, whatever sessions its processes made', { skip }, async t => {
  const tools = await boxedTools(t)
  const seconds = nap()
  const begun = performance.now()
  const script = `trap "" TERM; (setsid sh -c "trap '' TERM; sleep ${seconds} & sleep ${seconds}" < /dev/null > /dev/null 2>&1 &); sleep ${seconds}`
  t.match(await tools.shell(script, { timeoutMs: 1_000 }), { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  t.strictSame(running('sleep', seconds), [])
  t.ok(performance.now() - begun < 1_000 + 250 + 2_000, 'and that soon')
})

void t.test('fault 2 a grandchild that holds stdout open ends with the tool', { skip }, async t => {
  const tools = await boxedTools(t)
  const seconds = nap()
  t.equal(outputOf(await tools.shell(`setsid sleep ${seconds} & echo done`)), 'done')
  t.strictSame(running('sleep', seconds), [])
})

void t.test('fault 5 a tool in a box that spoils its stdin or its files spoils no other call', { skip }, async t => {
  const tools = await boxedTools(t)
  const scripts = ['chmod 0 /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2', 'head -c 300000 /dev/zero > /proc/self/fd/0', 'yes > /dev/stderr & yes']
  for (const script of scripts) {
    await tools.shell(script, { timeoutMs: 1_000, arguments: { secret: 'of the first' } })
    t.strictSame(outputOf(await tools.shell('cat', { arguments: { script } })), { script }, script)
  }
})

void t.test('fault 8 a failed sandbox is no failure of the tool', { skip }, async t => {
  const tools = await boxedTools(t)
  t.match(await tools.shell('kill -29 $$'), { error: { code: 'TOOL_FAILED', message: 'signal: SIGIO' } }, 'the usual one of two names')
  tools.sandbox.close()
  t.match(await tools.shell('true'), { ok: false, error: { code: 'SANDBOX_FAILED' } })
})

const rounds = 200

void t.test(`fault 10 ${rounds} timeouts of boxed tools leave no process, descriptor or directory`, { skip, timeout: 400_000 }, async t => {
  // Its own, so that what others make and remove meanwhile doesn't count.
  const shared = process.env['TMPDIR']
  process.env['TMPDIR'] = mkdtempSync(join(tmpdir(), 'toolyard-tmp-'))
  t.teardown(() => {
    rmSync(tmpdir(), { recursive: true, force: true })
    if (shared === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = shared
  })
  const tools = await boxedTools(t)
  const seconds = nap()
  await tools.shell('true')
  const before = { descriptors: readdirSync('/proc/self/fd').length, files: readdirSync(tmpdir()).filter(name => name.startsWith('toolyard-box-')).length }
  let left = rounds
  let timeouts = 0
  await Promise.all(Array.from({ length: 8 }, async () => {
    while (left-- > 0) {
      // Some end while their box is still being built.
      const outcome = await tools.shell(`exec sleep ${seconds}`, { timeoutMs: 1 + left % 40 })
      if (!outcome.ok && outcome.error.code === 'TOOL_TIMEOUT') timeouts += 1
    }
  }))
  t.equal(timeouts, rounds)
  t.strictSame(running('sleep', seconds), [])
  // Fewer, when the file for a box that was never built is one of those that are kept.
  await waitFor('no more descriptors are open than before, but four for each box that waits', () =>
    readdirSync('/proc/self/fd').length <= before.descriptors + 4 * tools.executors.waiting())
  t.equal(readdirSync(tmpdir()).filter(name => name.startsWith('toolyard-box-')).length, before.files)
})
