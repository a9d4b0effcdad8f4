import t from 'tap'
import { createFixture, errorOf, isAlive, linuxPython, outputOf, python } from './fixture.ts'
import { waitFor } from '../support/condition.ts'

const timedOut = (sec: number): object => ({ ok: false, error: { code: 'TOOL_TIMEOUT', message: 'tool timed out', details: { timeout_sec: sec } } })
/** Writes the pid of each process that it starts into a file of its name, then goes on. */
const family = `
def note(name):
    with open(f"{name}.part", "w") as file: file.write(str(os.getpid()))
    os.rename(f"{name}.part", name)

note("tool")
subprocess.Popen(["sh", "-c", "echo $$ > child; exec sleep 60"])
subprocess.Popen(["sh", "-c", "echo $$ > session; exec sleep 60"], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir("/")
        os.closerange(0, 64)
        os.chdir(self.config["workspace"])
        note("daemon")
        time.sleep(60)
    os._exit(0)
if os.fork() == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    note("stubborn")
    time.sleep(60)
threading.Thread(target=time.sleep, args=[60]).start()
threading.Thread(target=time.sleep, args=[60], daemon=True).start()
for name in ("child", "session", "daemon", "stubborn"):
    while not (os.path.exists(name) and open(name).read()): time.sleep(0.01)
print("family is up")
`.trim()
const members = ['tool', 'child', 'session', 'daemon', 'stubborn']

t.test('fault 1 after a timeout no process of a call is left: no grandchild, no session, no daemon, no thread', linuxPython, async t => {
  const fixture = await createFixture(t, { open: true })
  const config = { workspace: fixture.workspace }
  t.match(await fixture.execute(`${family}\ntime.sleep(60)`, { timeoutMs: 4_000, config }), timedOut(4))
  t.same(members.filter(name => isAlive(Number(fixture.written(name)))), [])
})

t.test('fault 9 after a cancel no process of a call is left', linuxPython, async t => {
  const fixture = await createFixture(t, { open: true })
  const cancel = new AbortController()
  const run = fixture.execute(`${family}\ntime.sleep(60)`, { signal: cancel.signal, config: { workspace: fixture.workspace } })
  await waitFor('the family is up', () => fixture.logged.includes('family is up'))
  cancel.abort()
  t.same(await run, { ok: false, error: { code: 'JOB_CANCELLED', message: 'Job was cancelled' } })
  t.same(members.filter(name => isAlive(Number(fixture.written(name)))), [])
})

t.test('fault 2 after a tool returned no process of it is left', linuxPython, async t => {
  const fixture = await createFixture(t, { open: true })
  t.equal(outputOf(await fixture.execute(`${family}\nreturn "returned"`, { config: { workspace: fixture.workspace } })), 'returned')
  t.same(members.filter(name => isAlive(Number(fixture.written(name)))), [])
})

t.test('fault 2 a daemon of a quick call, with its own session and descriptors, does not outlive it', linuxPython, async t => {
  const fixture = await createFixture(t, { open: true })
  const body = 'daemon = subprocess.Popen(["sleep", "60"], start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\nreturn daemon.pid'
  for (const round of [1, 2, 3]) t.notOk(isAlive(Number(outputOf(await fixture.execute(body)))), `round ${round}`)
})

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
