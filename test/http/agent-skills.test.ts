import type { CallResult } from '@toolyard/contract'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { runToolyard } from '../cli/toolyard.ts'
import { meta } from '../mcp/clients.ts'
import { injectService } from '../support/injected.ts'
import { testKeys } from '../support/service.ts'

/*
 * A collection of skills of the shape that people publish, made here and added by `toolyard add`: 83 files and 5.5 MB in one of
 * them, nested scripts, a helper that is imported by its place, references by absolute paths, and skills that this machine
 * lacks something for.
 */

const keys = { acme: 'key-of-acme-0123456789', other: 'key-of-other-0123456789' }
const bound = { billing: 'key-of-billing-0123456789', letters: 'key-of-letters-0123456789', skills: 'key-of-skills-0123456789' }
const skill = (name: string, body: string): string => `---\nname: ${name}\ndescription: Fills, reads and checks ${name}: use it for every one of them\nlicense: See LICENSE.txt\n---\n${body}`
/** It imports a neighbour by its place in the skill, and notes what it got in the working directory. */
const script = `#!/usr/bin/env python3
import os, sys
root = os.environ['SKILL_DIR']
sys.path.insert(0, os.path.join(root, 'scripts', 'office'))
import helpers
note = os.path.join(os.getcwd(), 'note.txt')
had = open(note).read() if os.path.exists(note) else 'nothing'
with open(note, 'a') as file:
    file.write(sys.stdin.read())
print(helpers.count('/skills/forms/schemas'), had)
`
/** How skills that were written for other programs name their own directory, and what isn't theirs. */
const ofClaude = '$' + '{CLAUDE_SKILL_DIR}'
const elsewhere = `A ${ofClaude}/a B {baseDir}/b C "$HOME/.claude/skills/forms/c" D .agents/skills/forms/d E ~/.config/opencode/skills/forms/e ` +
  'F $CLAUDE_PLUGIN_ROOT/skills/forms/f G $' + '{baseDir}/g H .claude/skills/letters/h I /srv/.claude/skills/forms/i J .claude/skills/forms-2/j\n'
const schemas = Object.fromEntries(Array.from({ length: 78 }, (_, at) => [`schemas/part-${Math.floor(at / 10)}/s${at}.xsd`, `<!-- ${at} -->${'x'.repeat(70_500)}`]))
const forms: Record<string, string> = {
  'SKILL.md': skill('forms', '# Forms\n\nRead `/skills/forms/references/forms.md`, then run `python3 scripts/office/run.py`.\n\n' + elsewhere),
  'LICENSE.txt': 'All rights reserved.\n',
  'references/forms.md': '# How forms are filled\n',
  'scripts/office/run.py': script,
  'scripts/office/helpers.py': 'import os\ndef count(place):\n    return sum(len(names) for _, _, names in os.walk(place))\n',
  ...schemas
}
/** A text as long as those of a third of published skills. */
const steps = '1. Look at the next sum.\n'.repeat(800)
const others = ['letters', 'sheets'].map(name => [`collection/office/${name}/SKILL.md`, skill(name, `# ${name}\n`)] as const)
/** One that a rule is about, and two that need something that no machine has. */
const smaller = {
  'collection/office/checks/SKILL.md': skill('checks', '# Checks\n'),
  'collection/office/checks/scripts/check.sh': '#!/bin/sh\n',
  'collection/office/drawings/SKILL.md': skill('drawings', '# Drawings\n'),
  'collection/office/drawings/scripts/draw.sh': '#!/usr/bin/env no-such-interpreter\n',
  'collection/office/sums/SKILL.md': skill('sums', `# Sums\n${steps}`),
  'collection/office/sums/scripts/sum.py': 'import no_such_module\n'
}
const project = t.testdir()
for (const [path, text] of Object.entries({
  'collection/README.md': 'A collection\n',
  ...smaller,
  ...Object.fromEntries(others),
  ...Object.fromEntries(Object.entries(forms).map(([path, text]) => [`collection/documents/forms/${path}`, text])),
  'layer.json': JSON.stringify({ tools: [{ skill: 'forms', permissions: ['read_repo', 'write_files'] }] }),
  'policy.json': JSON.stringify([{ when: 'audit == "experimental" && tool == "skill_run" && args.skill == "checks"', then: 'deny', reason: 'Nobody has looked at it.' }])
})) {
  mkdirSync(join(project, dirname(path)), { recursive: true })
  writeFileSync(join(project, path), text)
}
const added = await runToolyard(['add', './collection', '--name', 'office', '--yes'], { cwd: project, env: {} })
const { client } = await injectService(t, {
  tools: [],
  env: {
    TOOL_MANIFESTS: ['toolyard.lock.json', 'layer.json'].map(file => join(project, file)).join(','),
    POLICY_FILE: join(project, 'policy.json'),
    SKILLS_ALLOW_SCRIPTS: '1',
    SKILL_PROGRAMS: 'python3',
    API_KEYS_JSON: JSON.stringify([
      { name: 'admin', key: testKeys.admin, role: 'admin' },
      ...Object.entries(keys).map(([tenant, key]) => ({ name: tenant, key, role: 'admin', tenant })),
      ...Object.entries(bound).map(([namespace, key]) => ({ name: namespace, key, role: 'admin', namespaces: [namespace] }))
    ])
  }
})

async function call (
  name: string, args: object, { key = testKeys.admin, session }: { key?: string, session?: string } = {}
): Promise<CallResult> {
  return await client.call(name, args, { session }, key)
}

t.test('a collection is added by one command, which shows what models read and what may run', async t => {
  t.equal(added.status, 0, added.stderr)
  t.match(added.stdout + added.stderr, /skill forms \(documents\/forms\/SKILL\.md, \d+ characters for models\)[^]*may run: .*scripts\/office\/run\.py/)
  const { body } = await client.request<{ skills: Array<{ name: string, audit: string }> }>('/v1/skills')
  t.same(body.skills.map(({ name, audit }) => `${name} ${audit}`).sort(), ['checks experimental', 'drawings experimental', 'forms experimental', 'letters experimental', 'sheets experimental', 'sums experimental'])
})

t.test('a rule may be about whether what was added is trusted', async t => {
  t.match(await call('skill_run', { skill: 'checks', argv: ['scripts/check.sh'] }), { ok: false, error: { code: 'POLICY_DENIED', message: 'Nobody has looked at it.' } })
})

t.test('the message for a skill that can not run on a machine names what is missing', async t => {
  t.match(await call('skill_run', { skill: 'drawings', argv: ['scripts/draw.sh'] }), { error: { code: 'TOOL_UNAVAILABLE', message: 'program "no-such-interpreter" is not on this machine; toolyard doctor says how to install it' } })
  t.match(await call('skill_run', { skill: 'sums', argv: ['scripts/sum.py'] }), { error: { code: 'TOOL_FAILED', message: /No module named 'no_such_module'/ } })
})

t.test('a skill of 83 files and 5.5 MB reaches a model in three tiers', async t => {
  t.equal(Object.keys(forms).length, 83)
  t.ok(Object.values(forms).join('').length > 5_500_000)
  const listed = (await client.request<{ skills: Array<{ name: string }>, prompt: string }>('/v1/skills')).body
  t.match(listed.skills.map(({ name }) => name).sort(), ['checks', 'drawings', 'forms', 'letters', 'sheets', 'sums'])
  t.match(await call('search_tools', { query: 'fill and check forms' }), { output: { tools: [{ name: 'activate_skill', namespace: 'skills', description: /- forms: Fills, reads and checks forms/ }] } })
  for (const format of ['chat', 'responses', 'anthropic', 'gemini', 'bedrock']) t.match((await client.request(`/v1/agent-tools?format=${format}`)).text, /- forms: Fills, reads and checks forms/)
  const active = await call('activate_skill', { name: 'forms' })
  t.match(active, { ok: true, output: /^# Forms\n/ })
  t.match(active.output, /references\/forms\.md \(\d+ bytes\)/)
  t.match(active.output, /skill_run, such as/)
  for (const path of ['references/forms.md', '/skills/forms/references/forms.md']) t.match(await call('read_skill', { skill_name: 'forms', path }), { output: '# How forms are filled\n' })
  t.match(await call('read_skill', { skill_name: 'forms', path: '../../../layer.json' }), { ok: false, error: { code: 'TOOL_FAILED' } })
})

t.test('what other programs call the directory of a skill is its place, in its text, as an argument and as the path of a file', async t => {
  const { output } = await call('activate_skill', { name: 'forms' })
  t.match(output, 'A /skills/forms/a B /skills/forms/b C "/skills/forms/c" D /skills/forms/d E /skills/forms/e F /skills/forms/f ' +
    'G $' + '{baseDir}/g H .claude/skills/letters/h I /srv/.claude/skills/forms/i J .claude/skills/forms-2/j')
  const session = await client.session()
  for (const place of [ofClaude, '$SKILL_DIR', '{baseDir}', '~/.claude/skills/forms', '.codex/skills/forms']) {
    t.match(await call('skill_run', { skill: 'forms', argv: ['python3', `${place}/scripts/office/run.py`] }, { session }), { ok: true, output: /^78 / }, place)
    t.equal((await call('read_skill', { skill_name: 'forms', path: `${place}/references/forms.md` })).output, '# How forms are filled\n', place)
  }
  t.match(await call('skill_run', { skill: 'forms', argv: ['~/.claude/skills/letters/x.sh'] }), { error: { code: 'NOT_ALLOWED' } })
})

t.test('the text of a skill that is longer than other outputs may be reaches a model whole, with its files; a request may ask for less', async t => {
  const { output } = await call('activate_skill', { name: 'sums' })
  t.ok(String(output).startsWith(`# Sums\n${steps}\n---\n`))
  t.match(output, /- scripts\/sum\.py \(\d+ bytes\)/, 'its files stand behind the text')
  t.equal((await call('read_skill', { skill_name: 'sums' })).output, `# Sums\n${steps}`)
  const { results: [shortened] } = await client.batch([{ call_id: 'a', name: 'activate_skill', arguments: { name: 'sums' } }], { max_output_chars: 2_000 })
  t.match(shortened?.output, { truncated: true, tail: /SKILL_DIR/ })
})

t.test('a key that is bound to namespaces sees the skills of these, over HTTP and as prompts, resources and skills of MCP', async t => {
  const seen: Record<keyof typeof bound, string[]> = { billing: [], letters: ['letters'], skills: ['forms', 'letters', 'sheets'] }
  for (const [namespace, names] of Object.entries(seen)) {
    const key = bound[namespace as keyof typeof bound]
    const { body } = await client.request<{ skills: Array<{ name: string }>, count: number, prompt: string }>('/v1/skills', { key })
    const shown = body.skills.map(({ name }) => name)
    t.same(shown.filter(name => seen.skills.includes(name)).sort(), names, namespace)
    if (namespace !== 'skills') t.equal(body.count, names.length)
    t.equal(body.prompt.includes('sheets'), names.includes('sheets'))
    const rpc = async (method: string, params: object): Promise<{ result?: Record<string, unknown>, error?: object }> => (await client.request<object>('/mcp', {
      key,
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...'uri' in params && { 'mcp-name': String(params.uri) }, ...'name' in params && { 'mcp-name': String(params.name) } },
      body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }
    })).body
    for (const list of ['prompts/list', 'resources/list', 'skills/list']) {
      const text = JSON.stringify((await rpc(list, {})).result)
      for (const name of seen.skills) t.equal(text.includes(name), names.includes(name), `${namespace} ${list} ${name}`)
    }
    t.match((await rpc('prompts/get', { name: 'sheets' })).error, names.includes('sheets') ? undefined : { message: /Unknown prompt/ })
    for (const method of ['resources/read', 'skills/get']) t.equal((await rpc(method, { uri: 'skill://sheets/SKILL.md' })).error === undefined, names.includes('sheets'), `${namespace} ${method}`)
    t.equal((await rpc('resources/directory/read', { uri: 'skill://sheets/' })).error === undefined, names.includes('sheets'))
  }
})

t.test('its scripts run in sessions of two tenants, and neither sees what the other wrote', async t => {
  for (const key of Object.values(keys)) {
    const { body } = await client.request<{ session: { id: string } }>('/v1/sessions', { key, body: {} })
    const run = async (stdin: string): Promise<CallResult> => await call('skill_run', { skill: 'forms', argv: ['scripts/office/run.py'], stdin }, { key, session: body.session.id })
    t.match(await run(`of ${key}`), { ok: true, output: '78 nothing\n' })
    t.match(await run(''), { ok: true, output: `78 of ${key}\n` })
  }
})

t.test('MCP clients activate, read and run it alike', async t => {
  let id = 0
  const ask = async (name: string, args: object): Promise<string> => {
    const { text } = await client.request('/mcp', {
      body: { jsonrpc: '2.0', id: ++id, method: 'tools/call', params: { name, arguments: args, _meta: meta } },
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name }
    })
    const last = text.split('\n').filter(line => line.includes('"jsonrpc"')).at(-1) ?? ''
    const { result } = JSON.parse(last.slice(last.indexOf('{'))) as { result?: { content: Array<{ text: string }> } }
    return result?.content[0]?.text ?? text
  }
  t.match(await ask('activate_skill', { name: 'forms' }), /# Forms/)
  t.match(await ask('read_skill', { skill_name: 'forms', path: 'references/forms.md' }), /# How forms are filled/)
  t.match(await ask('skill_run', { skill: 'forms', argv: ['python3', 'scripts/office/run.py'], stdin: 'x' }), /78 nothing/)
})
