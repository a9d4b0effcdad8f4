import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { everyWarm } from '../sandbox/boxed-tools.ts'
import { areAlive, child, createCommandFixture, isWritten, self } from './command-fixture.ts'
import { outputOf } from './fixture.ts'
import { waitFor } from '../support/condition.ts'

// Most of these wait for a timeout, of which a busy machine may need a second or two to start the tool.
t.jobs = 4

/** New for each test: tap writes into them, and tests that run at once and share them print the output of one another. */
const onLinux = (): { skip: false | string } => ({ skip: process.platform === 'linux' ? false : 'needs /proc' })
const timedOut = (sec: number): object => ({ ok: false, error: { code: 'TOOL_TIMEOUT', message: 'tool timed out', details: { timeout_sec: sec } } })

t.test('A17 AC17 X7 a tool that runs too long is killed: TOOL_TIMEOUT, tool timed out', async t => {
  const fixture = await createCommandFixture(t)
  const begun = performance.now()
  t.same(await fixture.runShell(`${self} > pid; exec sleep 60`, { timeoutMs: 3_000 }), timedOut(3))
  t.ok(performance.now() - begun < 10_000)
  t.same(areAlive(fixture, 'pid'), [false])
})

t.test('AC17 X7 the details of TOOL_TIMEOUT have the seconds, and what the tool printed last', async t => {
  const fixture = await createCommandFixture(t, { maxOutputBytes: 100_000 })
  const detailsOf = async (script: string): Promise<unknown> => {
    const outcome = await fixture.runShell(script, { timeoutMs: 3_500 })
    return outcome.ok ? undefined : outcome.error.details
  }
  t.same(await detailsOf('echo step 1; echo step 2; echo waits for a lock >&2; exec sleep 60'), { timeout_sec: 3.5, stderr: 'waits for a lock', stdout: 'step 1\nstep 2' })
  t.same(await detailsOf('head -c 70000 /dev/zero | tr "\\0" a >&2; echo é >&2; head -c 200000 /dev/zero | tr "\\0" b; printf "\\360\\237\\230\\200"; exec sleep 60'), { timeout_sec: 3.5, stderr: `${'a'.repeat(1_999)}é`, stdout: `${'b'.repeat(1_998)}\u{1F600}` }, 'at most 2,000 characters of each')
})

t.test('A18 AC13 the context\'s timeout counts; a tool that ends before it succeeds', async t => {
  const fixture = await createCommandFixture(t)
  t.equal(outputOf(await fixture.runShell('sleep 0.3; echo done', { timeoutMs: 30_000 })), 'done')
})

t.test('B5 X7 a tool that ignores SIGTERM is killed with its children', async t => {
  const fixture = await createCommandFixture(t)
  t.same(await fixture.runShell(`trap "" TERM; ${self} > pid; sleep 60 & ${child} > child; wait; wait`, { timeoutMs: 3_000 }), timedOut(3))
  t.same(areAlive(fixture, 'pid', 'child'), [false, false])
})

t.test('a tool has a short time to clean up at SIGTERM', async t => {
  const fixture = await createCommandFixture(t)
  t.same(await fixture.runShell('trap "echo x > cleaned; exit 0" TERM; sleep 60 & wait', { timeoutMs: 3_000 }), timedOut(3))
  t.ok(existsSync(join(fixture.workspace, 'cleaned')))
})

t.test('fault 1 B5 after a timeout no process is alive: not a grandchild, not one that called setsid', onLinux(), async t => {
  const fixture = await createCommandFixture(t)
  t.same(await fixture.runShell(`sh -c '${self} > grandchild; sleep 60 & wait' & setsid sh -c '${self} > session; exec sleep 60' & wait`, { timeoutMs: 3_500 }), timedOut(3.5))
  t.same(areAlive(fixture, 'grandchild', 'session'), [false, false])
})

t.test('fault 1 a tool that forks without end is dead after its timeout', onLinux(), async t => {
  const fixture = await createCommandFixture(t)
  const program = fixture.shell('spawner', `exec 2> /dev/null; read -r _; ${self} >> pids; [ "$(wc -l < pids)" -gt 300 ] && exec sleep 60; setsid "$0" & setsid "$0" & exec sleep 60`)
  t.same(await fixture.run({ program, timeoutMs: 3_000 }), timedOut(3))
  const spawned = areAlive(fixture, 'pids')
  t.ok(spawned.length > 1)
  t.same(spawned.filter(isAlive => isAlive), [])
})

t.test('fault 2 a grandchild that holds stdout open does not hold the call, and is killed', async t => {
  const fixture = await createCommandFixture(t)
  t.equal(outputOf(await fixture.runShell(`sleep 60 & ${child} > child; echo done`)), 'done')
  t.same(areAlive(fixture, 'child'), [false])
})

t.test('fault 2 a grandchild in the group that holds nothing open is killed at the exit', async t => {
  const fixture = await createCommandFixture(t)
  t.equal(outputOf(await fixture.runShell(`sleep 60 < /dev/null > /dev/null 2>&1 & ${child} > child; echo done`)), 'done')
  t.same(areAlive(fixture, 'child'), [false])
})

t.test('fault 9 a cancel kills the tree: JOB_CANCELLED', onLinux(), async t => {
  const fixture = await createCommandFixture(t)
  const cancel = new AbortController()
  const run = fixture.runShell(`setsid sh -c '${self} > session; exec sleep 60' & ${self} > pid; sleep 60`, { signal: cancel.signal })
  await waitFor('the tool is up', () => isWritten(fixture, 'session') && isWritten(fixture, 'pid'))
  const begun = performance.now()
  cancel.abort()
  t.same(await run, { ok: false, error: { code: 'JOB_CANCELLED', message: 'Job was cancelled' } })
  t.ok(performance.now() - begun < 5_000)
  t.same(areAlive(fixture, 'session', 'pid'), [false, false])
})

t.test('fault 9 an abort whose reason is a call error ends with that error', async t => {
  const fixture = await createCommandFixture(t)
  const stop = new AbortController()
  const run = fixture.runShell(': > up; exec sleep 60', { signal: stop.signal })
  await waitFor('the tool is up', () => existsSync(join(fixture.workspace, 'up')))
  stop.abort(Object.assign(new Error('the worker stopped'), { code: 'WORKER_LOST' }))
  t.same(await run, { ok: false, error: { code: 'WORKER_LOST', message: 'the worker stopped' } })
})

t.test('fault 9 a call that is cancelled before it starts never runs', async t => {
  const fixture = await createCommandFixture(t)
  t.match(await fixture.runShell(': > ran', { signal: AbortSignal.abort() }), { ok: false, error: { code: 'JOB_CANCELLED' } })
  t.notOk(existsSync(join(fixture.workspace, 'ran')))
})

t.test('closing the executors waits for running calls', async t => {
  const fixture = await createCommandFixture(t)
  let ended = false
  const run = fixture.runShell(': > up; sleep 0.3').then(() => { ended = true })
  if (everyWarm) await waitFor('the tool is up', () => existsSync(join(fixture.workspace, 'up')))
  await fixture.executors.close()
  t.ok(ended)
  await run
})
