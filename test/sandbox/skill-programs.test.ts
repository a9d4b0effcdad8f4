import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import type { Outcome, SessionPlace } from '@toolyard/executors'
import { loadRegistry, toolOfCall, type Tool } from '@toolyard/manifests'
import { boxedTools, withoutBox } from './boxed-tools.ts'
import { writeFiles } from '../support/files.ts'

const skip = await withoutBox()
const files: Record<string, string> = {
  'skills/office/letters/SKILL.md': '---\nname: letters\ndescription: Letters.\n---\n',
  'skills/office/letters/scripts/look.sh': 'pwd; echo "$SKILL_DIR"; ls "$SKILL_DIR"; cat mine 2>/dev/null; echo x > "$SKILL_DIR/scripts/new" || echo refused',
  'skills/office/letters/scripts/save.py': '#!/usr/bin/env python3\nimport helper, sys\nopen(sys.argv[1], "w").write(helper.text)\n',
  'skills/office/letters/scripts/helper.py': 'text = "saved"\n',
  'skills/office/letters/scripts/shim.sh': '#!/bin/sh\nset -e\ncd "$(dirname "$0")"\necho "echo shim $SKILL_DIR" > shim && sh ./shim\n( echo y > helper.py ) 2>/dev/null || echo kept\n',
  'layer.json': JSON.stringify({ tools: [{ skill: 'letters', permissions: ['write_files'], overlay: true }] })
}

const signal = new AbortController().signal

void t.test('the text of a skill that uses LibreOffice tells how it is started in a box, where HOME is empty', { skip }, async t => {
  const tools = await boxedTools(t)
  for (const [name, text] of [['sheets', 'Use soffice.'], ['letters', 'Write.']] as const) {
    mkdirSync(join(tools.base, 'skills', name), { recursive: true })
    writeFileSync(join(tools.base, 'skills', name, 'SKILL.md'), `---\nname: ${name}\ndescription: x\n---\n${text}\n`)
    writeFileSync(join(tools.base, 'skills', name, 'more.md'), '')
  }
  const registry = await loadRegistry({ manifests: [join(tools.base, 'skills')], skills: { allowScripts: true, path: '' } })
  const tool = registry.get('activate_skill')?.tool
  if (tool === undefined) throw new Error(JSON.stringify(registry.findings))
  const textOf = async (name: string): Promise<string> => JSON.stringify(await tools.executors.run(tool, { name }, { jobId: 'job', timeoutMs: 60_000, signal, log: () => {} }))
  t.match(await textOf('sheets'), /Use soffice\..*start it with --headless --terminate_after_init before, in the same run/)
  t.notMatch(await textOf('letters'), /LibreOffice/)
})

void t.test('programs of a skill see it read-only at one place, and of two tenants each sees its own session', { skip }, async t => {
  const tools = await boxedTools(t)
  writeFiles(tools.base, files)
  const load = async (...manifests: string[]): Promise<Tool> => {
    const registry = await loadRegistry({ manifests: manifests.map(name => join(tools.base, name)), skills: { allowScripts: true, path: process.env['PATH'] ?? '' } })
    const tool = registry.get('skill_run')?.tool
    if (tool === undefined) throw new Error(JSON.stringify(registry.findings))
    return tool
  }
  const sessions = ['1', '2'].map((digit): SessionPlace => {
    const place = { id: `${digit.repeat(8)}-1111-7111-8111-111111111111`, dir: join(tools.base, 'sessions', digit) }
    mkdirSync(place.dir, { recursive: true })
    writeFileSync(join(place.dir, 'mine'), `of ${digit}\n`)
    return place
  })
  const run = async (tool: Tool, argv: string[], session?: SessionPlace): Promise<Outcome> => await tools.executors.run(toolOfCall(tool, { skill: 'letters' }), { skill: 'letters', argv }, {
    jobId: 'job', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {}, ...session !== undefined && { session, tenant: session.id }
  })

  const plain = await load('skills')
  for (const [at, session] of sessions.entries()) {
    t.same(await run(plain, ['scripts/look.sh'], session), { ok: true, output: `${tools.workspace}\n/skills/letters\nSKILL.md\nscripts\nof ${at + 1}\nrefused\n` })
  }
  t.match(await run(plain, ['scripts/save.py', 'out'], sessions[0]), { ok: false, error: { details: { hint: /"permissions": \["write_files"\]/ } } })

  const granted = await load('skills', 'layer.json')
  t.match(await run(granted, ['scripts/save.py', 'out'], sessions[0]), { ok: true })
  t.equal(readFileSync(join(sessions[0]?.dir ?? '', 'out'), 'utf8'), 'saved')
  t.same(await run(granted, ['scripts/shim.sh'], sessions[1]), { ok: true, output: 'shim /skills/letters\nkept\n' }, 'it writes beside itself, and changes no file of the skill')
  t.notMatch(await run(granted, ['scripts/look.sh'], sessions[1]), { output: /shim/ })
  t.equal(readFileSync(join(tools.base, 'skills/office/letters/scripts/helper.py'), 'utf8'), files['skills/office/letters/scripts/helper.py'])
})

void t.test('a script of a skill unpacks an archive whose files belong to somebody else', { skip }, async t => {
  const tools = await boxedTools(t)
  const directory = join(tools.base, 'skills/parts')
  mkdirSync(join(directory, 'scripts'), { recursive: true })
  writeFileSync(join(directory, 'SKILL.md'), '---\nname: parts\ndescription: x\n---\nx\n')
  writeFileSync(join(directory, 'scripts/unpack.sh'), 'cd /tmp && echo x > a && tar --owner=502 --group=20 -cf a.tar a && tar -xf a.tar && echo unpacked\n')
  const registry = await loadRegistry({ manifests: [join(tools.base, 'skills')], skills: { allowScripts: true, path: process.env['PATH'] ?? '' } })
  const tool = registry.get('skill_run')?.tool
  if (tool === undefined) throw new Error(JSON.stringify(registry.findings))
  t.same(await tools.executors.run(toolOfCall(tool, { skill: 'parts' }), { skill: 'parts', argv: ['scripts/unpack.sh'] }, { jobId: 'job', timeoutMs: 60_000, signal, log: () => {} }), { ok: true, output: 'unpacked\n' })
})

/** Connects to the address that is named, or answers at one of its own. */
const sockets = `import socket, sys
address = sys.argv[1].replace('@', '\\0', 1)
try:
    if len(sys.argv) > 2:
        client = socket.socket(socket.AF_UNIX)
        client.connect(address)
    else:
        server = socket.socket(socket.AF_UNIX)
        server.bind(address)
        server.listen()
        client = socket.socket(socket.AF_UNIX)
        client.connect(address)
    print('connected')
except OSError as error:
    print(error.strerror)
`

void t.test('programs of a skill have Unix sockets where the operator says so, which reach nothing outside, and with the network of the machine none', { skip }, async t => {
  const programs = t.testdir({ soffice: '' })
  chmodSync(join(programs, 'soffice'), 0o755)
  const tools = await boxedTools(t, { env: { ...process.env, PATH: `${programs}:${process.env['PATH'] ?? ''}` } })
  const directory = join(tools.base, 'skills/office')
  mkdirSync(join(directory, 'scripts'), { recursive: true })
  writeFileSync(join(directory, 'SKILL.md'), '---\nname: office\ndescription: x\n---\nUse soffice.\n')
  writeFileSync(join(directory, 'scripts/sockets.py'), sockets)
  const layer = join(tools.base, 'layer.json')
  const abstract = `toolyard-test-${process.pid}`
  const outside = createServer().listen(`\0${abstract}`)
  await once(outside, 'listening')
  t.teardown(() => { outside.close() })
  const run = async (entry: object | undefined, argv: string[], name = 'skill_run'): Promise<Outcome> => {
    writeFileSync(layer, JSON.stringify({ tools: [{ skill: 'office', permissions: ['read_repo'], ...entry }] }))
    const registry = await loadRegistry({ manifests: [join(tools.base, 'skills'), layer], skills: { allowScripts: true, programs: ['soffice'], path: process.env['PATH'] ?? '' } })
    const tool = registry.get(name)?.tool
    if (tool === undefined) throw new Error(JSON.stringify(registry.findings))
    const args = name === 'skill_run' ? { skill: 'office', argv } : { name: 'office' }
    return await tools.executors.run(toolOfCall(tool, args), args, { jobId: 'job', timeoutMs: 60_000, signal, log: () => {} })
  }
  const none = 'Address family not supported by protocol\n'
  for (const address of ['/tmp/own', '@own']) {
    t.match(await run({ unixSockets: true }, ['scripts/sockets.py', address]), { output: 'connected\n' })
    t.match(await run({}, ['scripts/sockets.py', address]), { output: none })
    t.match(await run({}, ['scripts/sockets.py', address]), { output: none }, 'also in a box that was made ahead')
  }
  t.match(await run({ unixSockets: true }, ['scripts/sockets.py', `@${abstract}`, 'connect']), { output: 'Connection refused\n' })
  t.match(await run({ permissions: ['network'] }, ['scripts/sockets.py', '@own']), { output: none })
  t.match(await run({ unixSockets: true, permissions: ['network'] }, ['scripts/sockets.py', '@own']), { output: none }, 'the entry is refused')
  t.match(await run({}, ['soffice', '--version']), { error: { code: 'TOOL_UNAVAILABLE', message: /LibreOffice waits for a Unix socket, .*"unixSockets": true/ } })
  t.notMatch(await run({ unixSockets: true }, [], 'activate_skill'), { output: /LibreOffice/ })
})

void t.test('a box with the network of the machine has no Unix sockets, whatever was granted', { skip }, async t => {
  const tools = await boxedTools(t)
  writeFileSync(join(tools.base, 'sockets.py'), sockets)
  const tool: Tool = { name: 'x', description: '', parameters: { type: 'object' }, jobType: 'agentcli.x', enabled: true, idempotent: false, permissions: ['network'], unixSockets: true, source: { format: 'agentcli', file: join(tools.base, 'tools.json'), index: 0 }, run: { kind: 'command', program: '/usr/bin/python3', args: ['-c', sockets, '@own'], envPassthrough: [] } }
  t.match(await tools.executors.run(tool, {}, { jobId: 'job', timeoutMs: 60_000, signal, log: () => {} }), { output: /Address family not supported/ })
})
