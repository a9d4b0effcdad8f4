import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { writeFiles } from '../support/files.ts'
import { boxed } from '../python/fixture.ts'
import { boxedPython } from './boxed-python.ts'
import { boxedTools, withoutBox } from './boxed-tools.ts'

const skip = await withoutBox()

void t.test('P18 without permissions a tool sees an empty workspace', { skip }, async t => {
  const tools = await boxedTools(t)
  writeFileSync(join(tools.workspace, 'file'), 'content')
  t.strictSame(outputOf(await tools.shell('ls -A', { permissions: [] })), {})
  t.match(await tools.shell('touch new', { permissions: [] }), { ok: false, error: { message: /Read-only/ } })
})

void t.test('P18 read_repo shows the workspace and keeps it as it is', { skip }, async t => {
  const tools = await boxedTools(t)
  writeFileSync(join(tools.workspace, 'file'), 'content')
  t.equal(outputOf(await tools.shell('cat file', { permissions: ['read_repo'] })), 'content')
  for (const script of ['echo x > file', 'rm file', 'touch new', 'mkdir new', 'chmod 777 file']) {
    t.match(await tools.shell(script, { permissions: ['read_repo'] }), { ok: false }, script)
  }
})

void t.test('P18 write_files lets a tool change the workspace', { skip }, async t => {
  const tools = await boxedTools(t)
  t.equal(outputOf(await tools.shell('echo new > file; cat file', { permissions: ['write_files'] })), 'new')
  t.equal(outputOf(await tools.shell('cat file', { permissions: ['read_repo'] })), 'new')
})

void t.test('P18 without network a tool has only the loopback interface, and with it those of the machine', { skip }, async t => {
  const tools = await boxedTools(t)
  const interfaces = 'tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " " | sort | tr "\\n" " "'
  const all = outputOf(await tools.shell(interfaces, { permissions: ['network'] }))
  t.equal(outputOf(await tools.shell(interfaces, { permissions: [] })), 'lo')
  t.match(await tools.shell('test -s /etc/resolv.conf', { permissions: [] }), { ok: false })
  t.match(await tools.shell('test -e /etc/hosts', { permissions: ['network'] }), { ok: true })
  t.ok(typeof all === 'string' && all.includes('lo'))
})

void t.test('a tool finds its program\'s neighbours, its temporary directory and its interpreters', { skip }, async t => {
  const tools = await boxedTools(t)
  tools.program('library.sh', 'greeting=hello\n')
  const program = tools.program('greet', '#!/usr/bin/env sh\n. "$(dirname "$0")/library.sh"; echo "$greeting" > /tmp/x; echo y > "$HOME/x"; cat /tmp/x\n')
  t.equal(outputOf(await tools.run({ program })), 'hello')
  t.match(await tools.shell('test -e /tmp/x || test -e "$HOME/x"'), { ok: false }, 'and the next call finds nothing of it')
  t.match(await tools.run({ program: process.execPath, args: ['-p', '1 + 1'] }), { ok: true, output: 2 })
})

void t.test('a program that npm has installed finds the packages beside it, and nothing of the project around them', { skip }, async t => {
  const tools = await boxedTools(t)
  const project = writeFiles(t.testdir({}), {
    '.env': 'TOKEN=x\n',
    'node_modules/server/package.json': '{"type":"module"}',
    'node_modules/server/index.js': `#!${process.execPath}\nimport { existsSync } from 'node:fs'\nimport told from 'needed'\nconsole.log(told, existsSync(new URL('../../.env', import.meta.url)))\n`,
    'node_modules/needed/package.json': '{"main":"index.js"}',
    'node_modules/needed/index.js': 'module.exports = "found"\n'
  })
  mkdirSync(join(project, 'node_modules/.bin'))
  chmodSync(join(project, 'node_modules/server/index.js'), 0o755)
  symlinkSync('../server/index.js', join(project, 'node_modules/.bin/serve'))
  t.equal(outputOf(await tools.run({ program: join(project, 'node_modules/.bin/serve') })), 'found false')
})

void t.test('A41 a box adds nothing to the environment of a tool', { skip }, async t => {
  const tools = await boxedTools(t, { env: { PATH: '/usr/bin:/bin', HOME: '/home/nobody' } })
  const variables = String(outputOf(await tools.run({ program: '/usr/bin/env' }))).split('\n').map(line => line.split('=')[0] ?? '')
  // The runner of these tests adds variables of its own to every process.
  t.strictSame(variables.filter(name => /^[A-Z_]+$/.test(name) && !name.includes('TAP')).sort(), ['HOME', 'LANG', 'PATH'])
})

void t.test('P18 the errors of a refused write and of a missing network name the permission that allows them', { skip }, async t => {
  const tools = await boxedTools(t)
  const hint = (text: string): object => ({ ok: false, error: { code: 'TOOL_FAILED', details: { hint: text } } })
  const connect = 'require("net").connect(9, "192.0.2.1").on("error", error => { console.error(error.message); process.exit(1) })'
  t.match(await tools.shell(`${process.execPath} -e 'require("fs").mkdirSync("logs/today", { recursive: true })'`), hint('The tool may not write: "write_files" in its "permissions" lets it write to the workspace.'))
  t.match(await tools.shell('echo x > new'), hint('The tool may not write: "write_files" in its "permissions" lets it write to the workspace.'))
  t.match(await tools.run({ program: process.execPath, args: ['-e', connect] }), hint('The tool has no network: "network" in its "permissions" gives it one.'))
  const held = await tools.shell('echo "EROFS, Connection refused" >&2; exit 1', { permissions: ['write_files', 'network'] })
  t.strictSame(held, { ok: false, error: { code: 'TOOL_FAILED', message: 'EROFS, Connection refused' } })
})

void t.test('a box has what programs keep of themselves in /etc, such as fonts', { skip: skip || (!existsSync('/etc/fonts/fonts.conf') && 'this machine has no /etc/fonts') }, async t => {
  const tools = await boxedTools(t)
  t.match(await tools.shell('test -s /etc/fonts/fonts.conf'), { ok: true })
})

const ofJava = readdirSync('/etc').find(name => /^java-\d+-openjdk$/.test(name))
void t.test('a box has the settings of Java, without the passwords below management', { skip: skip || (ofJava === undefined && 'this machine has no Java of Debian') }, async t => {
  const tools = await boxedTools(t)
  t.match(await tools.shell(`test -s /etc/${ofJava}/security/java.security && test ! -e /etc/${ofJava}/management`), { ok: true })
})

void t.test('a box has the machine\'s alternatives, without the manual pages', { skip: skip || (!existsSync('/etc/alternatives') && 'this machine has no /etc/alternatives') }, async t => {
  const tools = await boxedTools(t)
  const shown = outputOf(await tools.shell('ls /etc/alternatives | LC_ALL=C sort'))
  t.equal(shown, readdirSync('/etc/alternatives').filter(name => !name.endsWith('.gz')).sort().join('\n'))
})

void t.test('a command has Unix sockets where its entry says so; without, the error names the field', { skip }, async t => {
  const tools = await boxedTools(t)
  const listen = 'require("net").createServer().on("error", error => { console.error(error.message); process.exit(1) }).listen("/tmp/own", () => { console.log("listens"); process.exit() })'
  const run = { program: process.execPath, args: ['-e', listen] }
  for (const unixSockets of [undefined, true, undefined] as const) {
    const outcome = await tools.run({ ...run, unixSockets })
    if (unixSockets === true) t.match(outcome, { ok: true, output: 'listens' })
    else t.match(outcome, { ok: false, error: { details: { hint: 'A Unix socket has no place in its box: "unixSockets": true in its manifest entry lets it have some.' } } })
  }
})

void t.test('the error of a Python tool without a Unix socket names no field, since its manifest has none for it', boxed, async t => {
  const host = await boxedPython(t)
  const outcome = await host.execute('sockets', 'import socket; socket.socket(socket.AF_UNIX)')
  t.match(outcome, { ok: false, error: { message: /Address family not supported/ } })
  t.notMatch(JSON.stringify(outcome), /unixSockets/)
})

void t.test('the error of a tool that has reached a limit of its box names the limit and its value', { skip }, async t => {
  const tools = await boxedTools(t)
  const open = 'const { openSync } = require("fs"); for (;;) openSync("/dev/null")'
  const cases: Array<[string, string, string]> = [
    ['openFiles', '64', `${process.execPath} -e '${open}'`],
    ['fileBytes', '2048', 'trap "" XFSZ; head -c 9000 /dev/zero > /tmp/new'],
    ['tempBytes', '8192', 'head -c 90000 /dev/zero > /tmp/new'],
    ['cpuSec', '1', 'while :; do :; done'],
    ['memoryBytes', '33554432', 'head -c 90000000 /dev/zero | tail >/dev/null']
  ]
  for (const [name, value, script] of cases) {
    const outcome = await tools.shell(script, { limits: { [name]: Number(value) } })
    const hint = `Where this is a limit of its box: "${name}" in the "limits" of its manifest entry is ${value} now.`
    t.match(outcome, { ok: false, error: { code: 'TOOL_FAILED', details: { hint } } }, `${name}: ${JSON.stringify(outcome)}`)
  }
  t.notMatch(JSON.stringify(await tools.shell('echo "disk quota exceeded" >&2; exit 1')), /limit/)
})
