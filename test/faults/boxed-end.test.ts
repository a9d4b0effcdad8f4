import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { boxedTools, withoutBox } from '../sandbox/boxed-tools.ts'
import { nap, running } from '../sandbox/running.ts'
import { waitFor } from '../support/condition.ts'

const skip = await withoutBox()
const timedOut = (sec: number): object => ({ ok: false, error: { code: 'TOOL_TIMEOUT', message: 'tool timed out', details: { timeout_sec: sec } } })

void t.test('fault 1 after a timeout nothing of a box is alive, whatever sessions its processes made', { skip }, async t => {
  const tools = await boxedTools(t)
  const seconds = nap()
  const begun = performance.now()
  const script = `trap "" TERM; (setsid sh -c "trap '' TERM; sleep ${seconds} & sleep ${seconds}" < /dev/null > /dev/null 2>&1 &); sleep ${seconds}`
  t.strictSame(await tools.shell(script, { timeoutMs: 1_000 }), timedOut(1))
  t.strictSame(running('sleep', seconds), [])
  t.ok(performance.now() - begun < 1_000 + 250 + 2_000, 'and that soon')
})

void t.test('fault 1 a tool in a box has a short time to clean up', { skip }, async t => {
  const tools = await boxedTools(t)
  const script = 'trap "echo x > cleaned; exit 0" TERM; sleep 60 & wait'
  t.strictSame(await tools.shell(script, { timeoutMs: 3_000, permissions: ['write_files'] }), timedOut(3))
  t.ok(existsSync(join(tools.workspace, 'cleaned')))
})

void t.test('fault 2 a grandchild that holds stdout open ends with the tool', { skip }, async t => {
  const tools = await boxedTools(t)
  const seconds = nap()
  t.equal(outputOf(await tools.shell(`setsid sleep ${seconds} & echo done`)), 'done')
  t.strictSame(running('sleep', seconds), [])
})

void t.test('fault 3 output without an end is capped', { skip }, async t => {
  const tools = await boxedTools(t)
  t.match(await tools.shell('yes | head -c 30000000'), { ok: true, cut: { bytes: 30_000_000, storedBytes: 1_048_576 } })
})

void t.test('fault 4 a tool in a box need not read its stdin, and gets all of it when it does', { skip }, async t => {
  const tools = await boxedTools(t)
  const text = 'x'.repeat(900_000)
  t.equal(outputOf(await tools.shell('exec <&-; echo ok', { arguments: { text } })), 'ok')
  t.equal(outputOf(await tools.shell('wc -c', { arguments: { text } })), JSON.stringify({ text }).length)
})

void t.test('fault 5 a tool in a box that spoils its stdin or its files spoils no other call', { skip }, async t => {
  const tools = await boxedTools(t)
  const scripts = ['chmod 0 /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2', 'head -c 300000 /dev/zero > /proc/self/fd/0', 'yes > /dev/stderr & yes']
  for (const script of scripts) {
    await tools.shell(script, { timeoutMs: 1_000, arguments: { secret: 'of the first' } })
    t.strictSame(outputOf(await tools.shell('cat', { arguments: { script } })), { script }, script)
  }
})

void t.test('fault 5 a program that can\'t be started in a box gives TOOL_UNAVAILABLE', { skip }, async t => {
  const tools = await boxedTools(t)
  const plain = join(tools.base, 'tools/bin/plain')
  writeFileSync(plain, '#!/bin/sh\n', { mode: 0o644 })
  for (const program of ['/no/such/program', tools.base, plain, tools.program('text', 'just text'), tools.program('orphan', '#!/no/such/interpreter\n')]) {
    const outcome = await tools.run({ program, startable: false })
    t.match(outcome, { ok: false, error: { code: 'TOOL_UNAVAILABLE' } }, program)
  }
  t.match(await tools.run({ program: '/bin/true', args: ['a\0b'], startable: false }), { ok: false, error: { code: 'TOOL_UNAVAILABLE' } })
  t.match(await tools.run({ program: '/bin/true', args: ['x'.repeat(3_000_000)], startable: false }), { ok: false, error: { code: 'TOOL_UNAVAILABLE' } })
})

void t.test('fault 6 arguments reach the tool literally', { skip }, async t => {
  const tools = await boxedTools(t)
  const args = ['--', '--bind', '/', '$(id)', '; id', 'A=b', '']
  t.equal(outputOf(await tools.run({ program: '/usr/bin/printf', args: ['%s|', ...args] })), args.map(arg => `${arg}|`).join(''))
})

void t.test('fault 7 output that isn\'t JSON comes as text, and output that is no text is refused', { skip }, async t => {
  const tools = await boxedTools(t)
  t.match(await tools.shell('printf "\\377\\376b"'), { ok: false, error: { code: 'OUTPUT_INVALID', message: /no text but binary data/ } })
  t.equal(outputOf(await tools.shell('printf "{\\"a\\":"')), '{"a":')
})

void t.test('fault 8 an exit status, a signal and a failed sandbox give different errors', { skip }, async t => {
  const tools = await boxedTools(t)
  t.strictSame(await tools.shell('exit 1'), { ok: false, error: { code: 'TOOL_FAILED', message: 'exit status 1' } })
  t.strictSame(await tools.shell('kill -9 $$'), { ok: false, error: { code: 'TOOL_FAILED', message: 'signal: SIGKILL' } })
  for (const [number, name] of [[6, 'SIGABRT'], [29, 'SIGIO']]) t.match(await tools.shell(`kill -${number ?? 0} $$`), { error: { message: `signal: ${name ?? ''}` } }, 'the usual one of two names')
  const bad = await boxedTools(t)
  bad.sandbox.close()
  t.match(await bad.shell('true'), { ok: false, error: { code: 'SANDBOX_FAILED' } })
})

void t.test('fault 9 a cancel ends all processes of the box', { skip }, async t => {
  const tools = await boxedTools(t)
  const seconds = nap()
  const cancel = new AbortController()
  const run = tools.shell(`setsid sleep ${seconds} & sleep ${seconds}`, { signal: cancel.signal })
  await waitFor('the tool is up', () => running('sleep', seconds).length === 2)
  const begun = performance.now()
  cancel.abort()
  t.match(await run, { ok: false, error: { code: 'JOB_CANCELLED' } })
  t.ok(performance.now() - begun < 1_000)
  t.strictSame(running('sleep', seconds), [])
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
