import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { python } from '../python/fixture.ts'
import { boxedTools, withoutBox } from '../sandbox/boxed-tools.ts'

const skip = await withoutBox()

/** Tries, once called, every way to give a file permissions, by number where Python has no word for it. Prints what came of each. */
const attempts = `
import ctypes, json, os, platform, sys
sys.stdin.read()
libc = ctypes.CDLL(None, use_errno=True)
x64 = platform.machine() == 'x86_64'
def call(*arguments):
    result = libc.syscall(*(ctypes.c_long(each) if isinstance(each, int) else each for each in arguments))
    if result < 0: raise OSError(ctypes.get_errno(), '')
    return result
def through(action):
    try:
        result = action()
        if isinstance(result, int) and result > 2: os.close(result)
        return 'done'
    except OSError as error:
        return error.errno
os.umask(0)
HERE, CREATE = -100, os.O_CREAT | os.O_WRONLY
how = (ctypes.c_uint64 * 3)(CREATE, 0o6755, 0)
open('f', 'w').close()
found = {}
for bits in (0o4755, 0o2755, 0o6777, 0o104755):
    ways = {
        'fchmod': lambda: os.fchmod(os.open('f', os.O_RDONLY), bits),
        'fchmodat': lambda: call(268 if x64 else 53, HERE, b'f', bits),
        'fchmodat2': lambda: call(452, HERE, b'f', bits, 0),
        'openat': lambda: call(257 if x64 else 56, HERE, b'openat-%o' % bits, CREATE, bits),
        'tmpfile': lambda: os.open('.', os.O_TMPFILE | os.O_WRONLY, bits),
        'openat2': lambda: call(437, HERE, b'openat2-%o' % bits, ctypes.byref(how), 24),
        'mkdirat': lambda: call(258 if x64 else 34, HERE, b'mkdirat-%o' % bits, bits),
        'mknodat': lambda: call(259 if x64 else 33, HERE, b'mknodat-%o' % bits, bits | 0o100000, 0),
        'high half': lambda: call(257 if x64 else 56, HERE, b'high-%o' % bits, CREATE | 1 << 32, bits | 1 << 40),
        'capability': lambda: os.setxattr('f', 'security.capability', bytes.fromhex('01000002ffffffff000000000000000000000000'))
    }
    if x64:
        ways.update({
            'chmod': lambda: call(90, b'f', bits),
            'open': lambda: call(2, b'open-%o' % bits, CREATE, bits),
            'creat': lambda: call(85, b'creat-%o' % bits, bits),
            'mkdir': lambda: call(83, b'mkdir-%o' % bits, bits),
            'mknod': lambda: call(133, b'mknod-%o' % bits, bits | 0o100000, 0)
        })
    found.update({f'{name} {bits:o}': through(way) for name, way in ways.items()})
usual = {
    'chmod': through(lambda: os.chmod('f', 0o1755)),
    'open': through(lambda: os.open('usual', CREATE, 0o777)),
    'garbage': through(lambda: call(257 if x64 else 56, HERE, b'f', os.O_RDONLY, 0o6755)),
    'mkdir': through(lambda: os.mkdir('directory', 0o1777))
}
`

void t.test('fault 13 no tool leaves a setuid or setgid file in the workspace', { skip: python.skip === false ? skip : python.skip }, async t => {
  const tools = await boxedTools(t)
  const program = tools.program('set-id', `#!/usr/bin/python3\n${attempts}\njson.dump({'found': found, 'usual': usual}, __import__('sys').stdout)\n`)
  const { found, usual } = outputOf(await tools.run({ program, permissions: ['read_repo', 'write_files'] })) as Record<string, Record<string, unknown>>
  const [notPermitted, notImplemented] = [1, 38]
  for (const [way, result] of Object.entries(found ?? {})) t.equal(result, way.startsWith('openat2') ? notImplemented : notPermitted, way)
  t.strictSame(usual, { chmod: 'done', open: 'done', garbage: 'done', mkdir: 'done' }, 'all else goes on')
  for (const name of readdirSync(tools.workspace)) t.equal(statSync(join(tools.workspace, name)).mode & 0o6000, 0, name)
})

void t.test('fault 13 a setuid file loses the bit when a tool writes to it, and no copy has it', { skip }, async t => {
  const tools = await boxedTools(t)
  const file = join(tools.workspace, 'privileged')
  writeFileSync(file, '#!/bin/sh\n')
  chmodSync(file, 0o6755)
  await tools.shell('echo "id" >> privileged; cp -p privileged copy; cp -p /usr/bin/su su; install -m 4755 privileged installed; tar cf - privileged | tar xpf - -C /tmp', { permissions: ['read_repo', 'write_files'] })
  for (const name of readdirSync(tools.workspace)) t.equal(statSync(join(tools.workspace, name)).mode & 0o6000, 0, name)
})
