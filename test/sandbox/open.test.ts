import { once } from 'node:events'
import t from 'tap'
import { areAlive, child, self } from '../executors/command-fixture.ts'
import { createFixture as createCommandFixture, outputOf } from '../executors/fixture.ts'
import { createFixture, errorOf, isAlive, outputOf as pythonOutput, python, toolClass } from '../python/fixture.ts'
import { waitFor } from '../support/condition.ts'
import { startOpen } from '@toolyard/sandbox'

const skip = process.platform === 'linux' ? false : 'needs /proc'

void t.test('in the open, after a timeout no process of the group is alive, and none that descends from it', { skip }, async t => {
  const fixture = createCommandFixture(t)
  const run = fixture.runShell(`sh -c '${self} > grandchild; trap "" TERM; sleep 60 & wait; wait' & setsid sh -c '${self} > session; sleep 60 & ${child} > nephew; wait' & wait`, { timeoutMs: 3_000 })
  t.match(await run, { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  t.same(areAlive(fixture, 'grandchild', 'session', 'nephew'), [false, false, false])
})

void t.test('in the open, a Python tool imports its module for each call, prints to the log, and ends with what it started', { skip: skip || python.skip }, async t => {
  const fixture = await createFixture(t, { open: true })
  fixture.source('tool.py', `print("imported")\n${toolClass('print("called", file=sys.stderr)\nreturn [arguments, os.getcwd()]')}`)
  for (const n of [1, 2]) t.same(pythonOutput(await fixture.run({ arguments: { n } })), [{ n }, fixture.workspace])
  t.same(fixture.logged, ['imported', 'called', 'imported', 'called'])
  const cancel = new AbortController()
  const run = fixture.execute('child = subprocess.Popen(["sleep", "60"], start_new_session=True)\nopen("child", "w").write(str(child.pid))\nprint("up")\ntime.sleep(60)', { signal: cancel.signal })
  await waitFor('the tool is up', () => fixture.logged.includes('up'))
  cancel.abort()
  t.equal(errorOf(await run), 'JOB_CANCELLED: Job was cancelled')
  t.notOk(isAlive(Number(fixture.written('child'))))
})

void t.test('in the open, a module that does not import says why, to a call and to a trial', { skip: skip || python.skip }, async t => {
  const fixture = await createFixture(t, { open: true })
  fixture.source('tool.py', 'import not_installed_here')
  const reason = "ModuleNotFoundError: No module named 'not_installed_here'"
  t.equal(errorOf(await fixture.run()), `TOOL_UNAVAILABLE: module 'tool' does not import: ${reason}`)
  t.match(await fixture.executors.tryModule([fixture.tool()]), [{ fault: { what: 'module', reason } }])
})

void t.test('in the open, a tool that closes its input or leaves it is no failure', { skip }, async t => {
  const fixture = createCommandFixture(t)
  t.equal(outputOf(await fixture.runShell('exec <&-; echo ok', { arguments: { text: 'x'.repeat(900_000) } })), 'ok')
  const started = await startOpen({ program: '/bin/cat', args: [], env: {}, cwd: '/' }, 'text')
  const [chunk] = await once(started.stdout, 'data') as [Buffer]
  t.equal(String(chunk), 'text')
  t.same(await started.exited, { kind: 'exit', code: 0 })
})
