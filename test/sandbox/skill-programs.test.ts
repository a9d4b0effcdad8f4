import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import type { Outcome, SessionPlace } from '@toolyard/executors'
import { loadRegistry, type Tool } from '@toolyard/manifests'
import { boxedTools, withoutBox } from './boxed-tools.ts'

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
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(tools.base, path)), { recursive: true })
    writeFileSync(join(tools.base, path), text)
  }
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
  const run = async (tool: Tool, argv: string[], session?: SessionPlace): Promise<Outcome> => await tools.executors.run(tool, { skill: 'letters', argv }, {
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
