import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { boxed as python3InBox, errorOf, outputOf } from '../python/fixture.ts'
import { boxedPython } from '../sandbox/boxed-python.ts'
import { ancestor, nap, running } from '../sandbox/running.ts'
import { setUpTarget } from './target.ts'
import { waitFor } from '../support/condition.ts'

const hostile = join(import.meta.dirname, '../../../samples/hostile')
const skip = python3InBox.skip
/** A child, one with a session of its own, one that left by a double fork with no descriptor open, one that can't be asked. */
const family = `
seconds = given["seconds"]
sleep = ["sleep", seconds]
subprocess.Popen(sleep)
subprocess.Popen(sleep, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 64)
        os.execvp("sleep", sleep)
    os._exit(0)
subprocess.Popen(["sh", "-c", f"trap '' TERM; exec sleep {seconds}"])
while len([pid for pid in os.listdir("/proc") if pid.isdigit() and open(f"/proc/{pid}/comm").read() == "sleep\\n"]) < 4: time.sleep(0.01)
print("family is up")`.trim()

interface Report {
  tried: number
  reached: string[]
}

void t.test('fault 12 fault 13 fault 14 fault 17 fault 19 a hostile Python tool reaches nothing from its call', { skip }, async t => {
  const tools = await boxedPython(t)
  const target = await setUpTarget(t)
  const given = { ...target.given, secrets: [...target.given.secrets, join(process.cwd(), 'package.json')] }
  for (const permissions of [['read_repo'], ['read_repo', 'write_files']] as const) {
    const report = outputOf(await tools.call({ root: hostile, module: 'tools.hostile', className: 'Escape', permissions, arguments: given })) as Report
    t.ok(report.tried > 50, 'it tried everything')
    t.strictSame(report.reached, [])
  }
  t.equal(readFileSync(target.secret, 'utf8'), 'secret')
  t.strictSame(readdirSync(target.directory).sort(), ['secret', 'socket'])
  t.strictSame(tools.levels, ['full', 'full'], 'the audit says so')
})

void t.test('fault 1 fault 2 fault 9 no process of a call is alive after a timeout, a cancel or a return', { skip }, async t => {
  const tools = await boxedPython(t)
  const seconds = nap()
  const given = { seconds }
  await tools.execute('family', `${family}\nif given.get("stay"): time.sleep(600)\nreturn "returned"`, { arguments: given })
  t.strictSame(running('sleep', seconds), [], 'after a return')
  const cancel = new AbortController()
  const run = tools.call({ module: 'family', arguments: { ...given, stay: true }, signal: cancel.signal })
  await waitFor('the family is up', () => running('sleep', seconds).length === 4)
  cancel.abort()
  t.equal(errorOf(await run), 'JOB_CANCELLED: Job was cancelled')
  t.strictSame(running('sleep', seconds), [], 'after a cancel')
  t.equal(errorOf(await tools.call({ module: 'family', arguments: { ...given, stay: true }, timeoutMs: 3_000 })), 'TOOL_TIMEOUT: tool timed out')
  t.strictSame(running('sleep', seconds), [], 'after a timeout')
})

void t.test('fault 10 many timeouts of Python tools leave no process and no descriptor', { skip, timeout: 400_000 }, async t => {
  const tools = await boxedPython(t)
  const seconds = nap()
  await tools.execute('naps', 'os.execvp("sleep", ["sleep", given["seconds"]])', { arguments: { seconds: '0' } })
  const before = readdirSync('/proc/self/fd').length
  let left = 200
  let timeouts = 0
  await Promise.all(Array.from({ length: 8 }, async () => {
    while (left-- > 0) {
      // Some end while their inner box is still being made.
      const outcome = await tools.call({ module: 'naps', arguments: { seconds }, timeoutMs: 1 + left % 40 })
      if (!outcome.ok && outcome.error.code === 'TOOL_TIMEOUT') timeouts += 1
    }
  }))
  t.equal(timeouts, 200)
  t.strictSame(running('sleep', seconds), [])
  // The process that waits for the next call may not have been there yet: it has three.
  t.ok(readdirSync('/proc/self/fd').length <= before + 3)
  t.match(await tools.call({ module: 'naps', arguments: { seconds: '0' } }), { ok: false, error: { message: 'exit status 0' } }, 'and the host is well')
})

void t.test('a call that kills every process that it can reach kills only itself', { skip }, async t => {
  const tools = await boxedPython(t)
  const beside = tools.execute('beside', 'print("up")\nwhile not os.path.exists("go"): time.sleep(0.01)\nreturn "unharmed"')
  await waitFor('the other call runs', () => tools.logged.includes('up'))
  const kills = 'for pid in [1, os.getppid(), *(int(pid) for pid in os.listdir("/proc") if pid.isdigit())]:\n    if pid not in (0, os.getpid()): os.kill(pid, 9)\nos.killpg(0, 9)\nreturn "alive"'
  t.equal(errorOf(await tools.execute('kills', kills)), 'TOOL_FAILED: signal: SIGKILL')
  writeFileSync(join(tools.workspace, 'go'), '')
  t.equal(outputOf(await beside), 'unharmed')
})

void t.test('fault 13 a call sees no file, process, shared memory or port of another one', { skip }, async t => {
  const tools = await boxedPython(t)
  const leave = `import ctypes, socket
for place in ("/tmp", "/dev/shm", os.environ["HOME"]): open(f"{place}/left", "w").write("secret")
print("segment", ctypes.CDLL(None).shmget(4711, 4096, 0o1666))
server = socket.create_server(("127.0.0.1", 4711))
print("up")
time.sleep(60)`
  const look = `import ctypes, socket
found = [place for place in ("/tmp/left", "/dev/shm/left", os.environ["HOME"] + "/left") if os.path.exists(place)]
if ctypes.CDLL(None).shmget(4711, 4096, 0o666) >= 0: found.append("a segment")
with socket.socket() as client:
    if client.connect_ex(("127.0.0.1", 4711)) == 0: found.append("a port")
processes = [pid for pid in os.listdir("/proc") if pid.isdigit()]
if len(processes) > 2: found.append("processes")
return found`
  const cancel = new AbortController()
  const leaving = tools.execute('leaves', `if given.get("look"):\n${indented(look)}\n${leave}`, { signal: cancel.signal, permissions: [] })
  await waitFor('it has left everything', () => tools.logged.includes('up'))
  t.strictSame(outputOf(await tools.call({ module: 'leaves', permissions: [], arguments: { look: true } })), [])
  cancel.abort()
  await leaving
  t.strictSame(outputOf(await tools.call({ module: 'leaves', permissions: [], arguments: { look: true } })), [], 'and nothing stays behind')
})

void t.test('a call reads no file of the kernel that is for root alone, whoever its worker runs as', { skip }, async t => {
  const tools = await boxedPython(t)
  const read = `
def start_of(name):
    try:
        with open(f"/proc/{name}", "rb") as file:
            return file.read(8).decode()
    except PermissionError:
        return ""
return [start_of(name) for name in ("kpageflags", "slabinfo", "vmallocinfo")]`.trim()
  t.same(outputOf(await tools.execute('reader', read)), ['', '', ''])
})

void t.test('P18 the box of a Python tool allows what its permissions say', { skip }, async t => {
  const tools = await boxedPython(t)
  writeFileSync(join(tools.workspace, 'file'), 'content')
  const body = `
done = os.listdir(".")
for name, action in {"wrote": lambda: open("file", "a").close(), "wrote root": lambda: open(__file__, "a")}.items():
    try: action()
    except OSError: continue
    done.append(name)
return sorted(done + [line.split(":")[0].strip() for line in open("/proc/net/dev") if ":" in line])`.trim()
  t.strictSame(outputOf(await tools.execute('opens', body, { permissions: [] })), ['lo'])
  t.strictSame(outputOf(await tools.call({ module: 'opens', permissions: ['read_repo'] })), ['file', 'lo'])
  t.strictSame(outputOf(await tools.call({ module: 'opens', permissions: ['write_files'] })), ['file', 'lo', 'wrote'])
  t.strictSame(outputOf(await tools.call({ module: 'opens', permissions: ['network'] })), readdirSync('/sys/class/net').sort())
})

void t.test('fault 16 a Python tool that takes memory, disk or processes affects only itself', { skip }, async t => {
  const tools = await boxedPython(t)
  const devour = { root: hostile, module: 'tools.hostile', className: 'Devour' }
  const limits = { memoryBytes: 2 ** 28, tempBytes: 2 ** 26, processes: 64 }
  t.equal(outputOf(await tools.execute('fine', 'return "fine"')), 'fine')
  const bomb = tools.call({ ...devour, limits, arguments: { what: 'processes' }, timeoutMs: 20_000 })
  t.equal(outputOf(await tools.call({ module: 'fine' })), 'fine', 'others go on')
  const { taken } = outputOf(await bomb) as { taken: number }
  // The kernel doesn't count the processes of root.
  t.ok(process.getuid?.() === 0 || taken <= 64, `it got ${taken} processes`)
  for (const [what, most] of [['memory', limits.memoryBytes], ['disk', limits.tempBytes]] as const) {
    const { taken } = outputOf(await tools.call({ ...devour, limits, arguments: { what } })) as { taken: number }
    t.ok(taken > 0 && taken <= most, `it got ${taken} bytes of ${what}`)
  }
  const loop = await tools.execute('loop', 'while True: pass', { limits: { cpuSec: 1 } })
  t.equal(errorOf(loop), 'TOOL_FAILED: signal: SIGXCPU')
})

void t.test('a box shows the Python root as it is now', { skip }, async t => {
  const tools = await boxedPython(t)
  t.equal(outputOf(await tools.execute('tool', 'return "old"')), 'old')
  renameSync(tools.root, `${tools.root}.old`)
  mkdirSync(tools.root)
  t.equal(outputOf(await tools.execute('tool', 'return "new"')), 'new')
  rmSync(`${tools.root}.old`, { recursive: true })
})

void t.test('when a template or host dies its calls fail, and the next call gets a new one', { skip }, async t => {
  const tools = await boxedPython(t)
  const seconds = nap()
  const body = 'if given.get("seconds"): subprocess.run(["sleep", given["seconds"]])\nreturn "fine"'
  t.equal(outputOf(await tools.execute('victim', body)), 'fine')
  // Upwards from the sleep: the call, its init, the template, its init, the host.
  for (const [who, steps] of [['template', 3], ['host', 5]] as const) {
    const run = tools.call({ module: 'victim', arguments: { seconds } })
    await waitFor('the call runs', () => running('sleep', seconds).length === 1)
    const pid = ancestor(Number(running('sleep', seconds)[0]), steps)
    t.match(readFileSync(`/proc/${pid}/cmdline`, 'latin1'), /toolyard_host/)
    process.kill(pid, 'SIGKILL')
    t.equal(errorOf(await run), 'WORKER_LOST: The Python host of this worker was lost while the tool ran', who)
    t.strictSame(running('sleep', seconds), [])
    t.equal(outputOf(await tools.call({ module: 'victim' })), 'fine')
  }
})

void t.test('when the first process of an inner box dies or is stopped, its own call fails, and no process is left', { skip }, async t => {
  const tools = await boxedPython(t)
  const seconds = nap()
  const body = 'if given.get("seconds"): subprocess.run(["sleep", given["seconds"]])\nreturn "fine"'
  t.equal(outputOf(await tools.execute('victim', body)), 'fine')
  for (const [signal, error] of [['SIGKILL', 'TOOL_FAILED: signal: SIGKILL'], ['SIGSTOP', 'TOOL_TIMEOUT: tool timed out']] as const) {
    const run = tools.call({ module: 'victim', arguments: { seconds }, timeoutMs: 10_000 })
    await waitFor('the call runs', () => running('sleep', seconds).length === 1)
    const sleeping = Number(running('sleep', seconds)[0])
    process.kill(ancestor(sleeping, 2), signal)
    if (signal === 'SIGSTOP') process.kill(sleeping, 'SIGKILL')
    t.equal(outputOf(await tools.call({ module: 'victim' })), 'fine', 'others go on')
    const outcome = await run
    // A call that is done has told its answer; nobody has told that its process ended.
    t.equal(outcome.ok ? 'it returned' : errorOf(outcome), error)
    t.strictSame(running('sleep', seconds), [])
  }
})

function indented (text: string): string {
  return text.split('\n').map(line => `    ${line}`).join('\n')
}
