import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { outputOf } from '../executors/fixture.ts'
import { boxedTools, withoutBox } from '../sandbox/boxed-tools.ts'
import { setUpTarget } from './target.ts'

const hostile = join(import.meta.dirname, '../../../samples/hostile/tools/bin')
const program = join(hostile, 'escape.py')
const skip = await withoutBox()

interface Report {
  tried: number
  reached: string[]
}

void t.test('fault 12 fault 13 fault 14 fault 17 fault 19 a hostile tool reaches nothing from its box', { skip }, async t => {
  const tools = await boxedTools(t)
  const target = await setUpTarget(t)
  const bystander = spawn('/bin/sleep', ['600'], { env: { TOOLYARD_SECRET: 'hidden' } })
  t.teardown(() => bystander.kill())
  const otherJob = join(tools.base, 'other-job')
  mkdirSync(otherJob)
  writeFileSync(join(otherJob, 'data'), 'of another job')
  const given = { ...target.given, marker: 'TOOLYARD_SECRET', secrets: [...target.given.secrets, join(otherJob, 'data'), `/proc/${bystander.pid ?? 0}/environ`] }
  const report = outputOf(await tools.run({ program, permissions: ['read_repo'], arguments: given })) as Report
  t.ok(report.tried > 50, 'it tried everything')
  t.strictSame(report.reached, [])
  t.equal(readFileSync(target.secret, 'utf8'), 'secret')
})

void t.test('fault 13 a tool with the network of the machine gets no socket of netlink, which tells of processes and whose answers no limit counts, and resolves names', { skip }, async t => {
  const tools = await boxedTools(t)
  const program = tools.program('listen', [
    '#!/usr/bin/python3', 'import json, socket, sys', 'sys.stdin.read()', 'opened, refused = [], set()', 'for protocol in range(23):',
    '    try: opened.append(socket.socket(16, 3, protocol).proto)', '    except OSError as error: refused.add(error.errno)',
    'found = socket.getaddrinfo("localhost", 80, type=socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG)',
    'print(json.dumps([opened, sorted(refused), len(found) > 0]))', ''
  ].join('\n'))
  t.strictSame(outputOf(await tools.run({ program, permissions: ['network'] })), [[], [97], true])
})

void t.test('fault 13 a tool that may write reaches nothing more than the workspace', { skip }, async t => {
  const tools = await boxedTools(t)
  const target = await setUpTarget(t)
  const report = outputOf(await tools.run({ program, permissions: ['read_repo', 'write_files'], arguments: target.given })) as Report
  t.strictSame(report.reached, [])
})

void t.test('fault 12 fault 14 the same tool reaches all of it when it runs without a box', async t => {
  const tools = await boxedTools(t, { mode: 'off' })
  const target = await setUpTarget(t)
  const { reached } = outputOf(await tools.run({ program, arguments: { ...target.given, outside: [join(target.directory, 'written')], links: undefined } })) as Report
  const { secrets, sockets, tcp } = target.given
  for (const sentence of [`read ${secrets[0] ?? ''}`, `connected to ${tcp[0] ?? ''}`, ...sockets.map(path => `connected to ${path}`), 'saw foreign processes']) {
    t.ok(reached.includes(sentence), sentence)
  }
})

void t.test('fault 15 links that a tool makes lead no other tool out of the workspace', { skip }, async t => {
  const tools = await boxedTools(t)
  const target = await setUpTarget(t)
  const before = readdirSync(tmpdir()).filter(name => name.startsWith('planted'))
  t.strictSame((outputOf(await tools.run({ program, permissions: ['write_files'], arguments: target.given })) as Report).reached, [])
  t.strictSame(readdirSync(tmpdir()).filter(name => name.startsWith('planted')), before, 'the private /tmp left nothing')
  // The links are in the workspace now: what comes after them must not follow them out.
  const read = await tools.shell('cat planted planted-directory/secret 2>/dev/null; echo over > planted; ls planted-directory/', { permissions: ['write_files'] })
  t.match(read, { ok: false, error: { code: 'TOOL_FAILED' } })
  t.equal(readFileSync(target.secret, 'utf8'), 'secret')
  t.strictSame(readdirSync(target.directory).sort(), ['secret', 'socket'])
})

void t.test('fault 15 a workspace full of links is mounted without following one', { skip }, async t => {
  const tools = await boxedTools(t)
  const target = await setUpTarget(t)
  symlinkSync(target.directory, join(tools.workspace, 'tools'))
  symlinkSync('/', join(tools.workspace, 'tmp'))
  t.match(await tools.shell('echo x > tools/written || echo x > tmp/written-too', { permissions: ['write_files'] }), { ok: false })
  t.strictSame(readdirSync(target.directory).sort(), ['secret', 'socket'])
})

void t.test('fault 13 no tool may write to a workspace that holds files of the service', { skip }, async t => {
  const tools = await boxedTools(t, { hidden: ['workspace/.env'] })
  const write = await tools.shell('true', { permissions: ['write_files'] })
  t.match(write, { ok: false, error: { code: 'SANDBOX_FAILED' } })
})
