import t from 'tap'
import { createFixture, errorOf, linuxPython, outputOf, python } from './fixture.ts'
import { waitFor } from '../support/condition.ts'

const timedOut = (sec: number): object => ({ ok: false, error: { code: 'TOOL_TIMEOUT', message: 'tool timed out', details: { timeout_sec: sec } } })
t.test('an endless loop, and a tool that ignores SIGTERM, end at the timeout', python, async t => {
  const fixture = await createFixture(t)
  t.same(await fixture.execute('while True: pass', { timeoutMs: 1_000 }), timedOut(1))
  t.same(await fixture.execute('signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass', { timeoutMs: 1_000 }), timedOut(1))
})

t.test('X7 the details of TOOL_TIMEOUT have the seconds, and what the tool printed last', python, async t => {
  const fixture = await createFixture(t)
  t.match(await fixture.execute('print("begun", flush=True)\ntime.sleep(60)', { timeoutMs: 5_000 }), { error: { message: 'tool timed out', details: { timeout_sec: 5, stderr: 'begun' } } })
})

t.test('a tool has a short time to clean up at SIGTERM', python, async t => {
  const fixture = await createFixture(t)
  const cancel = new AbortController()
  const body = 'def leave(*_):\n    open("cleaned", "w")\n    sys.exit()\nsignal.signal(signal.SIGTERM, leave)\nprint("up")\ntime.sleep(60)'
  const run = fixture.execute(body, { signal: cancel.signal })
  await waitFor('the tool is up', () => fixture.logged.includes('up'))
  cancel.abort()
  t.equal(errorOf(await run), 'JOB_CANCELLED: Job was cancelled')
  t.ok(fixture.has('cleaned'))
})

t.test('a call that is cancelled before it starts does not start', python, async t => {
  const fixture = await createFixture(t)
  t.equal(errorOf(await fixture.execute('open("started", "w")', { signal: AbortSignal.abort() })), 'JOB_CANCELLED: Job was cancelled')
  t.notOk(fixture.has('started'))
})

t.test('other calls go on when one times out', python, async t => {
  const fixture = await createFixture(t)
  fixture.source('tool.py', 'class Sample(Tool):\n    def execute(self, seconds):\n        time.sleep(seconds)\n        return "slept"')
  const [long, short] = await Promise.all([
    fixture.run({ arguments: { seconds: 60 }, timeoutMs: 1_000 }), fixture.run({ arguments: { seconds: 2 } })
  ])
  t.same(long, timedOut(1))
  t.equal(outputOf(short), 'slept')
})

t.test('fault 7 a tool that writes nonsense to its connection harms only itself', linuxPython, async t => {
  const fixture = await createFixture(t)
  const find = 'for name in os.listdir("/proc/self/fd"):\n    try:\n        if int(name) > 2 and os.readlink(f"/proc/self/fd/{name}").startswith("socket:"): break\n    except FileNotFoundError: pass\n'
  for (const nonsense of ['b"\\xff" * 100', 'b"\\0\\0\\0\\2[]" * 3', 'b"\\0\\0\\0\\x0f{\\"returned\\":\\"x\\"}" + b"\\0\\0\\0\\1x"']) {
    const outcome = await fixture.execute(`${find}os.write(int(name), ${nonsense})\nreturn 1`)
    t.equal(outcome.ok, false, nonsense)
  }
  t.equal(outputOf(await fixture.execute('return 1')), 1)
})

t.test('close waits for running calls, and not for imports', linuxPython, async t => {
  const fixture = await createFixture(t)
  fixture.source('stuck.py', 'time.sleep(60)')
  t.match(await fixture.run({ module: 'stuck', timeoutMs: 1_500 }), { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  const run = fixture.execute('time.sleep(0.5)\nreturn "finished"')
  await fixture.executors.close()
  t.equal(outputOf(await run), 'finished')
})
