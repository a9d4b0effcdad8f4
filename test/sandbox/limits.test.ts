import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startFirstToEnd } from '@toolyard/sandbox'
import { outputOf } from '../executors/fixture.ts'
import { toolOf } from '../executors/mcp-fixture.ts'
import { python } from '../python/fixture.ts'
import { boxedPython } from './boxed-python.ts'
import { boxedTools, everyWarm, withoutBox } from './boxed-tools.ts'

const skip = await withoutBox()

/** Limits of a process in proc(5), as docs/security.md has them. */
const bounds = {
  'Max cpu time': '600',
  'Max data size': '4294967296',
  'Max file size': '1073741824',
  'Max core file size': '0',
  'Max open files': '256',
  'Max processes': '256',
  'Max pending signals': '1024',
  'Max msgqueue size': '65536'
}

function limitsIn (text: unknown): Record<string, string | undefined> {
  return Object.fromEntries(Object.keys(bounds).map(name => [name, new RegExp(`${name} +(\\d+) `).exec(String(text))?.[1]]))
}

void t.test('a tool that sets nothing has the limits that docs/security.md names, as a command and as a Python tool', { skip }, async t => {
  const tools = await boxedTools(t)
  // The start of a process that was kept ready counts as a second.
  t.same(limitsIn(outputOf(await tools.shell('cat /proc/self/limits'))), everyWarm ? { ...bounds, 'Max cpu time': '601' } : bounds)
  t.match(limitsIn(outputOf(await tools.shell('cat /proc/self/limits', { limits: { openFiles: 2_000 } }))), { 'Max open files': '2000' })
  const host = await boxedPython(t)
  t.same(limitsIn(outputOf(await host.execute('limits', 'return open("/proc/self/limits").read()'))), bounds)
})

/** An MCP server whose one tool is described by its limits. */
const serverText = `#!${process.execPath}
const { readFileSync } = require('node:fs')
require('node:readline').createInterface({ input: process.stdin }).on('line', line => {
  const { id, method, params } = JSON.parse(line)
  const description = readFileSync('/proc/self/limits', 'latin1')
  const result = method === 'initialize'
    ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'limits', version: '1' } }
    : { tools: [{ name: 'limits', description, inputSchema: { type: 'object' } }] }
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
})
`

void t.test('an MCP server has as many open files as a shell gives, and another number where its entry says so', { skip }, async t => {
  const tools = await boxedTools(t)
  const program = tools.program('limits-server', serverText)
  const server = toolOf('limits', [], { connection: { kind: 'stdio', program, args: [], env: {} }, permissions: ['read_repo'] }).run.server
  const openFiles = async (limits?: { openFiles: number }): Promise<unknown> => limitsIn(JSON.stringify(await tools.executors.toolsOf({ ...server, ...limits && { limits } })))['Max open files']
  t.equal(await openFiles(), '1024')
  t.equal(await openFiles({ openFiles: 128 }), '128')
})

void t.test('where memory is short the kernel ends processes of tools before the worker, and no tool changes that', { skip }, async t => {
  const own = readFileSync('/proc/self/oom_score_adj', 'utf8').trim()
  const tools = await boxedTools(t)
  const script = '(echo 0 > /proc/self/oom_score_adj) 2>/dev/null; (cat /proc/self/oom_score_adj)'
  // A process that is just being born when its place is set keeps the one that it is born with.
  for (let call = 0; call < 24; call++) t.ok(Number(outputOf(await tools.shell(script))) > Number(own))
  const host = await boxedPython(t)
  const body = 'import subprocess\nreturn [open("/proc/self/oom_score_adj").read(), subprocess.run(["cat", "/proc/self/oom_score_adj"], capture_output=True, text=True).stdout]'
  // With limits of its own a call has a process that is being born when it comes.
  for (let call = 0; call < 24; call++) t.same(outputOf(await host.execute('order', body, { limits: { processes: 100 + call } })), ['1000\n', '1000\n'])
  for (let call = 0; call < 3; call++) t.same(outputOf(await host.execute('order', body)), ['1000\n', '1000\n'])
  t.equal(readFileSync('/proc/self/oom_score_adj', 'utf8').trim(), own)
})

void t.test('while a process is started, the kernel ends tools that run before who starts it, and that one before the worker', async t => {
  const place = (pid: number | string = 'self'): number => Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'))
  const own = place()
  let meanwhile = 0
  const child = startFirstToEnd('/proc', () => {
    meanwhile = place()
    return spawn('/bin/sleep', ['600'])
  }, ({ pid }) => pid)
  t.teardown(() => { child.kill() })
  t.equal(place(child.pid), 1_000)
  t.ok(meanwhile > own && meanwhile < 1_000, String(meanwhile))
  t.equal(place(), own)
})

void t.test('a tool without a box has the limits that it sets itself', { skip }, async t => {
  const tools = await boxedTools(t, { mode: 'off' })
  t.match(limitsIn(outputOf(await tools.shell('cat /proc/self/limits', { limits: { fileBytes: 2 ** 20 } }))), { 'Max file size': '1048576', 'Max core file size': '0' })
})

void t.test('each temporary directory of a box is empty, and has 256 MiB or what the tool sets', { skip }, async t => {
  const tools = await boxedTools(t)
  const script = 'for at in /tmp /dev/shm "$HOME"; do echo $(find $at -xdev -type f | wc -l) $(($(stat -f -c "%b * %S" $at))); done'
  t.equal(outputOf(await tools.shell(script)), Array.from({ length: 3 }, () => `0 ${256 * 2 ** 20}`).join('\n'))
  t.equal(outputOf(await tools.shell(script, { limits: { tempBytes: 2 ** 20 } })), Array.from({ length: 3 }, () => `0 ${2 ** 20}`).join('\n'))
})

void t.test('private memory counts for a process, and shared memory does not', { skip: python.skip || skip }, async t => {
  const host = await boxedPython(t)
  const body = 'import mmap\nm = mmap.mmap(-1, 1 << 28, flags=mmap.MAP_ANONYMOUS | mmap.%s)\nreturn 1'
  const limits = { memoryBytes: 2 ** 27 }
  const [shared, own] = ['MAP_SHARED', 'MAP_PRIVATE'].map(kind => body.replace('%s', kind))
  t.equal(outputOf(await host.execute('shared', shared ?? '', { limits })), 1)
  t.match(await host.execute('own', own ?? '', { limits }), { ok: false, error: { message: /memory/i } })
})

void t.test('processes are counted for a user who is not root, and those of root where there are control groups', { skip: python.skip || skip }, async t => {
  const tools = await boxedTools(t)
  const program = tools.program('forks', [
    '#!/usr/bin/python3', 'import os, signal, sys', 'sys.stdin.read()', 'made = []', 'try:', '    while len(made) < 300:', '        child = os.fork()',
    '        if child == 0: signal.pause()', '        made.append(child)', 'except OSError: pass', 'print(len(made))',
    'for child in made: os.kill(child, signal.SIGKILL)', ''
  ].join('\n'))
  const made = Number(outputOf(await tools.run({ program })))
  t.equal(made === 300, process.getuid?.() === 0 && tools.sandbox.groups === undefined, `${made} processes`)
})

void t.test('resources that the kernel counts per user have only the machine\'s bounds, also in a box', { skip }, async t => {
  const tools = await boxedTools(t)
  const files = ['/proc/sys/fs/epoll/max_user_watches', '/proc/sys/fs/inotify/max_user_instances', '/proc/version']
  t.same(String(outputOf(await tools.shell(`cat ${files.join(' ')}`))).trim(), files.map(file => readFileSync(file, 'utf8')).join('').trim())
})

void t.test('fault 16 a tool can\'t give a file space beyond its end, which no limit would bound', { skip: python.skip || skip }, async t => {
  const tools = await boxedTools(t)
  // FALLOC_FL_KEEP_SIZE, with ZERO_RANGE, and FS_IOC_RESVSP64.
  const script = [
    'import ctypes, errno, fcntl, json, os, struct, sys', 'sys.stdin.read()', 'libc, file, told = ctypes.CDLL(None, use_errno=True), os.open("file", os.O_RDWR | os.O_CREAT), []',
    'for mode in (1, 0x11): told.append(libc.fallocate(file, mode, ctypes.c_long(0), ctypes.c_long(1 << 20)) or ctypes.get_errno())',
    'try: fcntl.ioctl(file, 0x4030582a, struct.pack("hhqqiI16x", 0, 0, 0, 1 << 20, 0, 0))', 'except OSError as error: told.append(error.errno)',
    'print(json.dumps([told, os.fstat(file).st_blocks, os.posix_fallocate(file, 0, 4096), os.fstat(file).st_size]))'
  ].join('\n')
  const program = tools.program('reserve', `#!/usr/bin/python3\n${script}\n`)
  const outcome = await tools.run({ program, permissions: ['read_repo', 'write_files'], limits: { fileBytes: 65_536 } })
  t.strictSame(outputOf(outcome), [[-1, -1, 95], 0, null, 4096])
})

void t.test('usual programs need no more than the default limits', { skip }, async t => {
  const tools = await boxedTools(t)
  const programs = {
    node: 'node -e "Promise.all(Array.from({ length: 100 }, () => fs.promises.readdir(process.cwd()))).then(all => console.log(all.length))"',
    python: 'python3 -c "import multiprocessing as m; print(sum(m.Pool(8).map(abs, range(-50, 50))))"',
    git: 'cd /tmp && git init -q . && seq 2000 > a && git add a && git -c user.name=a -c user.email=a commit -qm a && git gc -q && git log --oneline | wc -l'
  }
  for (const [name, script] of Object.entries(programs)) t.match(await tools.shell(script), { ok: true }, name)
})

void t.test('a module that starts a manager of multiprocessing when it is imported does not import: that needs a Unix socket', { skip: python.skip || skip }, async t => {
  const host = await boxedPython(t)
  writeFileSync(join(host.root, 'managed.py'), [
    'import multiprocessing', 'from toolyard import Tool', 'multiprocessing.Manager()', 'class Sample(Tool):', '    def execute(self):', '        return 1'
  ].join('\n'))
  t.match(await host.call({ module: 'managed' }), { ok: false, error: { code: 'TOOL_UNAVAILABLE' } })
})

void t.test('a tool that has as many files in transit through sockets as allowed ends no other, but none of the same user has one in transit meanwhile', { skip }, async t => {
  const host = await boxedPython(t)
  const tools = await boxedTools(t)
  const filled = new AbortController()
  let tell: () => void = () => {}
  const full = new Promise<void>(resolve => { tell = resolve })
  const body = [
    'import array, socket', 'pairs, count = [], 0',
    'try:', '    while True:', '        pairs.append(socket.socketpair()); pairs[-1][0].setblocking(False)',
    '        try:', '            while True:', '                socket.send_fds(pairs[-1][0], [b"x"], [0] * 200); count += 200',
    '        except BlockingIOError: pass', 'except OSError: pass',
    'print("full", count, file=sys.stderr, flush=True)', 'time.sleep(60)'
  ].join('\n')
  const call = host.execute('greedy', body, { signal: filled.signal, log: line => { if (line.startsWith('full')) tell() } })
  await full
  t.match(await host.execute('victim', 'return 1'), { ok: true, output: 1 })
  const passing = [
    'import errno, socket', 'one, other = socket.socketpair()', 'try: socket.send_fds(one, [b"x"], [0])', 'except OSError as error: return errno.errorcode[error.errno]'
  ].join('\n')
  t.match(await host.execute('passing', passing), { ok: true, output: 'ETOOMANYREFS' })
  t.equal(outputOf(await tools.shell('echo 1')), 1)
  filled.abort()
  await call
})
