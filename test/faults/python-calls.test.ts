import fc from 'fast-check'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import t, { type Test } from 'tap'
import { boxed as python3InBox, errorOf, outputOf } from '../python/fixture.ts'
import { boxedPython, type BoxedPython } from '../sandbox/boxed-python.ts'
import { waitFor } from '../support/condition.ts'
import { untilLate } from '../support/until-late.ts'

/* What the calls of one module can do to each other, to its import, and to the worker. */

const skip = python3InBox.skip
const unprivileged = 1_000
t.setTimeout(600_000)
const secret = 'a-victims-secret'

/** Tries each door to the first process of its inner box, and writes what that process would report of other calls. */
const init = `
import json
reached = []
reports = [json.dumps({"id": n, "exit": 0}).encode() for n in range(1, 40)] + [b"W\\0\\0", b"\\0" * 9]
for name in ("environ", "mem", "maps", "auxv", "io", "stack", "syscall", "pagemap", "smaps", "personality"):
    try: os.read(os.open(f"/proc/1/{name}", os.O_RDONLY), 1); reached.append(name)
    except OSError: pass
for name in ("root", "cwd", "exe", "ns/pid", "ns/mnt", "ns/user", "task/1/root"):
    try: os.stat(f"/proc/1/{name}"); reached.append(name)
    except OSError: pass
for directory in ("/proc/1/fd", "/proc/1/task/1/fd"):
    for number in range(64):
        for flags in (os.O_RDONLY, os.O_WRONLY, os.O_PATH):
            try: descriptor = os.open(f"{directory}/{number}", flags | os.O_NONBLOCK)
            except OSError: continue
            reached.append(f"{directory}/{number}")
            for report in reports:
                try: os.write(descriptor, report)
                except OSError: pass
return sorted(set(reached))`.trim()

/** Left open by a module: ways to the /proc of its template, where the calls are; and what does no harm. */
const leaves = `
LEFT = [os.open(path, flags) for path in ("/", "/proc", "/tmp", "/dev/shm", "/proc/self", "/usr") for flags in (os.O_RDONLY, os.O_PATH)]
FILE, PAIR, PIPE = open(__file__), socket.socketpair(), os.pipe()
SERVER, CLIENT, UDP = socket.create_server(("127.0.0.1", 0)), socket.socket(), socket.socket(type=socket.SOCK_DGRAM)
ADDRESS = SERVER.getsockname()`.trim()

/** Looks for the victim by what its module left open. */
const descent = `
found = []
for left in LEFT:
    for way in (".", "proc", "../proc", "../../proc", ".."):
        try: directory = os.open(way, os.O_RDONLY, dir_fd=left)
        except OSError: continue
        found.append("a directory")
        for pid in (name for name in os.listdir(directory) if name.isdigit()):
            try: regions = open(os.open(f"{pid}/maps", os.O_RDONLY, dir_fd=directory)).read().splitlines()
            except OSError: continue
            memory = os.open(f"{pid}/mem", os.O_RDONLY, dir_fd=directory)
            for first, last in ([int(part, 16) for part in line.split()[0].split("-")] for line in regions if " rw" in line):
                try: content = os.pread(memory, last - first, first)
                except OSError: continue
                if b"a-victims-" + b"secret" in content: found.append("the secret")
for use in (lambda: CLIENT.connect(ADDRESS), lambda: SERVER.getsockname(), lambda: UDP.sendto(b"x", ("127.0.0.1", 9)), lambda: SERVER.accept()):
    SERVER.settimeout(1) if SERVER.gettimeout() is None else None
    try: use(); found.append("a socket")
    except OSError: pass
return found`.trim()

/** A call that runs beside the attacks of another one, and goes on until it is told. */
const beside = 'print("up")\nwhile not os.path.exists("go"): time.sleep(0.01)\nreturn "mine"'

/** Runs `attack` in a call of the same module and box as that of a victim, and gives what the attack returned. */
async function attackOne (t: Test, tools: BoxedPython, attack: string, before = ''): Promise<unknown> {
  writeModule(tools, 'shared', `if given.get("attack"):\n${indented(attack)}\n${beside}`, before)
  const victim = tools.call({ module: 'shared', permissions: ['write_files'], arguments: { secret } })
  await waitFor('the victim runs', () => tools.logged.includes('up'))
  const attacked = outputOf(await tools.call({ module: 'shared', permissions: ['write_files'], arguments: { attack: true } }))
  const early = await Promise.race([victim, new Promise(resolve => setTimeout(resolve, 100, 'it runs'))])
  t.equal(early, 'it runs', 'the victim goes on')
  writeFileSync(join(tools.workspace, 'go'), '')
  t.equal(outputOf(await victim), 'mine', 'and its answer is its own')
  return attacked
}

void t.test('a call reaches nothing of the first process of its inner box, and ends no other call', { skip }, async t => {
  const tools = await boxedPython(t)
  t.strictSame(await attackOne(t, tools, init), [])
})

void t.test('a call can\'t reach another call through what their module has left open', { skip }, async t => {
  const tools = await boxedPython(t)
  t.strictSame(await attackOne(t, tools, descent, leaves), [])
  const use = 'import json\nPAIR[0].send(b"x")\nos.write(PIPE[1], b"y")\nreturn [PAIR[1].recv(1).decode(), os.read(PIPE[0], 1).decode(), FILE.readline()]'
  writeModule(tools, 'uses', use, leaves)
  t.strictSame(outputOf(await tools.call({ module: 'uses' })), ['x', 'y', 'import os, socket, sys, time\n'], 'files, pipes and pairs stay')
  writeModule(tools, 'connects', 'CLIENT.connect(ADDRESS)\nreturn "connected"', leaves)
  t.equal(outputOf(await tools.call({ module: 'connects', permissions: ['network'] })), 'connected', 'and with network its sockets')
})

void t.test('neither an import nor a call opens a Unix socket that could be connected', { skip }, async t => {
  const tools = await boxedPython(t)
  const name = `toolyard-abstract-${process.hrtime.bigint()}`
  const server = createServer(socket => { socket.destroy() }).listen(`\0${name}`)
  await once(server, 'listening')
  t.teardown(() => { server.close() })
  const attempts = `
ADDRESS = ("\\0" + ${JSON.stringify(name)}).ljust(108, "\\0")
def attempts(sockets):
    found = []
    for kind in (1, 2, 3, 5):
        for family in (socket.AF_UNIX, 30, 40):
            try: sockets.append(socket.socket(family, kind)); found.append(f"socket {family} {kind}")
            except OSError: pass
            try: sockets += socket.socketpair(family, kind)
            except OSError: continue
            if (family, kind) not in ((1, 1), (1, 5)): found.append(f"pair {family} {kind}")
    for each in sockets:
        try: each.connect(ADDRESS); found.append("connected")
        except OSError: pass
    return found
LEFT = []
BY_IMPORT = attempts(LEFT)`.trim()
  writeModule(tools, 'sockets', 'return [BY_IMPORT, attempts(LEFT)]', attempts)
  for (const permissions of [['network'], []] as const) t.strictSame(outputOf(await tools.call({ module: 'sockets', permissions })), [[], []])
})

void t.test('the stdin of a call is no device of the machine', { skip }, async t => {
  const tools = await boxedPython(t)
  const mountOf = 'next(line for line in open("/proc/self/fdinfo/0") if line.startswith("mnt_id"))'
  const machines = spawnSync('python3', ['-c', `print(${mountOf}, end="")`], { stdio: ['ignore', 'pipe', 'inherit'], encoding: 'utf8' }).stdout
  t.match(machines, /^mnt_id/)
  const [mount, content] = outputOf(await tools.execute('stdin', `return [${mountOf}, sys.stdin.read()]`)) as [string, string]
  t.not(mount, machines, 'through which root could change it')
  t.equal(content, '')
})

void t.test('the imports of two modules reach no port of each other', { skip }, async t => {
  const tools = await boxedPython(t)
  writeModule(tools, 'listens', 'return ADDRESS[1]', leaves)
  const port = Number(outputOf(await tools.call({ module: 'listens' })))
  writeModule(tools, 'looks', 'return REACHED', `REACHED = socket.socket().connect_ex(("127.0.0.1", ${port})) == 0`)
  t.equal(outputOf(await tools.call({ module: 'looks' })), false)
})

void t.test('a call that sends open files to the worker blocks only itself', { skip }, async t => {
  const tools = await boxedPython(t)
  const delay = monitorEventLoopDelay({ resolution: 10 })
  // Whoever closes a socket that lingers waits until all is sent: here it never is.
  const send = `import socket, struct
server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
client.setblocking(False)
try:
    while True: client.send(bytes(65536))
except BlockingIOError: client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 5))
sent = 0
for descriptor in (int(name) for name in os.listdir("/proc/self/fd")):
    if descriptor == client.fileno(): continue
    try: sent += socket.send_fds(socket.socket(fileno=os.dup(descriptor)), [b"x"], [client.fileno()])
    except OSError: pass
client.close()
return sent`
  await tools.execute('lingers', 'return "warm"')
  delay.enable()
  const outcome = await tools.execute('lingers', send)
  delay.disable()
  t.equal(outputOf(outcome), 0, 'nothing takes an open file')
  t.ok(delay.max < 3e9, `the event loop stood for ${Math.round(delay.max / 1e6)} ms`)
})

void t.test('a call that writes arbitrary bytes to the worker harms only itself', { skip }, async t => {
  const tools = await boxedPython(t)
  const frame = (content: string): Buffer =>
    Buffer.concat([Buffer.from(Uint32Array.of(content.length).buffer).reverse(), Buffer.from(content)])
  const message = fc.constantFrom('{"returned":3}', '{"returned":-1}', '{"returned":1e99}', '{"returned":"Infinity"}', '{"failed":{"code":"WORKER_LOST","message":"x"}}', '{"failed":{"code":"TOOL_FAILED","message":7}}', '{"id":1,"exit":0}', '{"id":2,"pid":1,"pipes":[0,1,2]}', '[[]]', 'null', '"x"', '')
  const nonsense = fc.array(fc.oneof(
    fc.uint8Array({ maxLength: 40 }).map(bytes => Buffer.from(bytes)),
    message.map(frame),
    fc.constantFrom(Buffer.alloc(100_000), Buffer.alloc(70_000, 0xff), Buffer.from([0xff, 0xff, 0xff, 0xff]), Buffer.from([0, 0x7f, 0xff, 0xff]), frame('['.repeat(60_000)))
  ), { minLength: 1, maxLength: 5 }).map(parts => Buffer.concat(parts).toString('base64'))
  const body = `import base64, stat
for descriptor in (int(name) for name in os.listdir("/proc/self/fd")):
    try:
        if descriptor > 2 and stat.S_ISFIFO(os.fstat(descriptor).st_mode): os.write(descriptor, base64.b64decode(given["bytes"]))
    except OSError: pass
if given["end"]: os._exit(3)
return "own"`
  await tools.execute('writes', body, { arguments: { bytes: '', end: false } })
  const codes = new Set(['TOOL_FAILED', 'TOOL_UNAVAILABLE', 'OUTPUT_INVALID'])
  await fc.assert(fc.asyncProperty(nonsense, fc.boolean(), untilLate(60_000, async (bytes, end) => {
    const outcome = await tools.call({ module: 'writes', arguments: { bytes, end } })
    if (!outcome.ok && !codes.has(outcome.error.code)) throw new Error(errorOf(outcome))
  })), { numRuns: 40 })
  t.equal(outputOf(await tools.call({ module: 'writes', arguments: { bytes: '', end: false } })), 'own')
})

void t.test('a module that writes arbitrary bytes to the worker during its import harms only its own tools', { skip }, async t => {
  const tools = await boxedPython(t)
  writeModule(tools, 'well', beside)
  const victim = tools.call({ module: 'well', permissions: ['write_files'] })
  await waitFor('the other call runs', () => tools.logged.includes('up'))
  const messages = ['{"ready":true}', ...Array.from({ length: 8 }, (_, id) => `{"id":${id + 1},"pid":2,"pipes":[0,1,2]}`), '{"id":1,"exit":0}', '{"id":1,"pid":1,"pipes":[3,4,5]}', '{"id":2,"signal":"x"}', '{"id":1,"pid":3,"pipes":"x"}']
  const spoil = `import stat
for message in ${JSON.stringify(messages)}:
    for descriptor in range(3, 64):
        try:
            if stat.S_ISFIFO(os.fstat(descriptor).st_mode): os.write(descriptor, len(message).to_bytes(4, "big") + message.encode())
        except OSError: pass`
  writeModule(tools, 'spoilt', 'return "own"', spoil)
  for (let n = 0; n < 3; n++) {
    const outcome = await tools.call({ module: 'spoilt', permissions: ['write_files'], timeoutMs: 20_000 })
    t.ok(outcome.ok || outcome.error.code !== 'OUTPUT_INVALID', outcome.ok ? 'it ran' : errorOf(outcome))
  }
  writeFileSync(join(tools.workspace, 'go'), '')
  t.equal(outputOf(await victim), 'mine')
})

// The kernel lets root do what it lets nobody else do: all of it once more as another user.
if (skip === false && process.getuid?.() === 0) {
  const own = mkdtempSync(join(tmpdir(), 'toolyard-unprivileged-'))
  chownSync(own, unprivileged, unprivileged)
  t.teardown(() => { rmSync(own, { recursive: true }) })
  void t.spawn('setpriv', [`--reuid=${unprivileged}`, `--regid=${unprivileged}`, '--clear-groups', process.execPath, join(import.meta.dirname, 'python-calls.test.js')], { env: { ...process.env, HOME: '/nonexistent', _TAPJS_PROCESSINFO_CWD_: own }, timeout: 300_000 }, 'all of this holds for a worker without privileges')
}

function writeModule (tools: BoxedPython, name: string, body: string, before = ''): void {
  writeFileSync(join(tools.root, `${name}.py`), `import os, socket, sys, time\nfrom toolyard import Tool\n${before}\nclass Sample(Tool):\n    def execute(self, **given):\n${indented(indented(body))}\n`)
}

function indented (text: string): string {
  return text.split('\n').map(line => `    ${line}`).join('\n')
}
