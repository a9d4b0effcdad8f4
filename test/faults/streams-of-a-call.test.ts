import { statSync } from 'node:fs'
import t from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { boxed as python3InBox } from '../python/fixture.ts'
import { boxedTools, everyWarm } from '../sandbox/boxed-tools.ts'

/** A tool may do this to its stdin; one that was kept ready has a pipe of its own. */
const allowed = ['0 lock', '0 owner', '0 flags', '0 lease', ...everyWarm ? ['0 open', '0 pipe size'] : []]
const skip = python3InBox.skip

/** Does to stdin, stdout and stderr whatever can be done to an open file; prints what got through. */
const damage = `#!/usr/bin/python3
import ctypes, fcntl, json, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
libc = ctypes.CDLL(None, use_errno=True)
sys.stdin.read(1)
done = []
def attempt(what, action):
    try:
        action()
        done.append(what)
    except OSError:
        pass
def allocate(fd):
    if libc.fallocate(fd, 1, ctypes.c_long(0), ctypes.c_long(1 << 33)) != 0: raise OSError(ctypes.get_errno(), '')
for fd in (0, 1, 2):
    path = f'/proc/self/fd/{fd}'
    attempt(f'{fd} size', lambda: os.truncate(path, 1 << 33))
    attempt(f'{fd} allocate', lambda: allocate(os.open(path, os.O_RDWR | os.O_NONBLOCK)))
    attempt(f'{fd} mode', lambda: os.fchmod(fd, 0))
    attempt(f'{fd} times', lambda: os.utime(path, (1, 1)))
    attempt(f'{fd} attribute', lambda: os.setxattr(path, 'user.left', b'1'))
    attempt(f'{fd} acl', lambda: os.setxattr(path, 'system.posix_acl_access', bytes.fromhex('0200000001000700ffffffff04000700ffffffff20000700ffffffff')))
    attempt(f'{fd} open', lambda: os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), b''))
    attempt(f'{fd} lock', lambda: fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB))
    attempt(f'{fd} lease', lambda: fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK))
    attempt(f'{fd} pipe size', lambda: fcntl.fcntl(fd, 1031, 4096))
    attempt(f'{fd} owner', lambda: fcntl.fcntl(fd, fcntl.F_SETOWN, os.getpid()))
    attempt(f'{fd} flags', lambda: fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC | os.O_APPEND))
os.set_blocking(1, True)
print(json.dumps(done))
`

/** Says all that can be seen of an open file, but what tells one call from another. */
const look = `#!/usr/bin/python3
import fcntl, json, os, sys
def attributes(fd):
    try:
        return os.listxattr(f'/proc/self/fd/{fd}')
    except OSError as error:
        return error.errno
def size(fd):
    try:
        return fcntl.fcntl(fd, 1032)
    except OSError as error:
        return error.errno
seen = []
for fd in (0, 1, 2):
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    found = os.fstat(fd)
    seen.append([oct(found.st_mode), found.st_blocks, found.st_size if fd == 0 else 0, attributes(fd), size(fd), fcntl.fcntl(fd, fcntl.F_GETFL), fcntl.fcntl(fd, fcntl.F_GETOWN)])
print(json.dumps({'seen': seen, 'again': open('/dev/stdin').read(), 'read': sys.stdin.read(), 'fresh': found.st_mtime > 1000}))
`

void t.test('fault 16 a tool may read its stdin again but can\'t change it, and nothing of it is there in the next call', { skip }, async t => {
  const tools = await boxedTools(t)
  const programs = { look: tools.program('look', look), damage: tools.program('damage', damage) }
  for (const permissions of [[], ['read_repo', 'write_files']] as const) {
    const seen = async (): Promise<unknown> => outputOf(await tools.run({ program: programs.look, permissions, arguments: { some: 'text' } }))
    const before = await seen()
    // A pipe can be read once.
    t.match(before, { again: '{"some":"text"}', read: everyWarm ? '' : '{"some":"text"}', fresh: true })
    for (let call = 0; call < 3; call++) {
      const done = outputOf(await tools.run({ program: programs.damage, permissions, arguments: { some: 'text' } })) as string[]
      t.strictSame(done.filter(what => what.startsWith('0') && !allowed.includes(what)), [])
      t.notOk(done.some(what => /size|allocate|attribute/.test(what) && !what.includes('pipe')), done.join())
      t.strictSame(await seen(), before)
    }
  }
})

void t.test('fault 13 the devices of the machine keep their modes, owners and times, whatever a tool does', { skip }, async t => {
  const tools = await boxedTools(t)
  const names = ['full', 'null', 'random', 'tty', 'urandom', 'zero']
  const facts = (): unknown => names.map(name => { const { mode, uid, gid, mtimeMs } = statSync(`/dev/${name}`); return [name, mode, uid, gid, mtimeMs] })
  const before = facts()
  const script = names.map(name => `chmod 600 /dev/${name}; chown 1:1 /dev/${name}; touch -d @1 /dev/${name}; setfacl -m u:1:rwx /dev/${name}; rm /dev/${name}`).join('; ')
  await tools.shell(`${script}; chmod 600 /proc/self/fd/0`, { permissions: [] })
  t.strictSame(facts(), before)
  t.equal(outputOf(await tools.shell('echo lost > /dev/null; head -c 3 /dev/zero | wc -c; head -c 8 /dev/urandom | wc -c')), '3\n8', 'they can be used')
})

void t.test('a tool with long arguments gets all of them, and one that does not read them still ends', { skip }, async t => {
  const tools = await boxedTools(t)
  const text = 'x'.repeat(900_000)
  t.equal(outputOf(await tools.shell('cat /dev/stdin | wc -c', { arguments: { text } })), text.length + 11)
  t.equal(outputOf(await tools.shell('echo done', { arguments: { text } })), 'done')
  t.equal(outputOf(await tools.shell('exec <&-; echo closed', { arguments: { text } })), 'closed')
})
