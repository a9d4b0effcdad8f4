import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { validateManifests } from '@toolyard/manifests'
import { boxedTools, withoutBox } from '../sandbox/boxed-tools.ts'
import { bundleOf, createService } from '../support/service.ts'
import { waitFor } from '../support/condition.ts'

const script = '#!/bin/sh\necho genuine\n'
const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
const skip = await withoutBox()

void t.test('fault 46 a program that leads out of the bin directory, or that others may write, is found, and refused where programs must be trusted', async t => {
  const tools = ['link', 'open', 'own'].map(name => ({ name, command: [`./tools/bin/${name}`] }))
  const service = await createService(t, { tools, files: { 'tools/bin/open': script, 'tools/bin/own': script, 'other/link': script }, workers: 0, env: { PROGRAMS_STRICT: '1' } })
  symlinkSync('../../other/link', join(service.dir, 'tools/bin/link'))
  chmodSync(join(service.dir, 'other/link'), 0o755)
  chmodSync(join(service.dir, 'tools/bin/open'), 0o777)
  const { ok, findings } = await validateManifests([join(service.dir, 'tools.json')], { strict: true })
  t.notOk(ok)
  t.match(findings.filter(({ rule }) => rule === 'A11'), [{ tool: 'link', severity: 'error' }, { tool: 'open', severity: 'error' }])
  // The first start saw the program before it was opened to others.
  const api = await service.startApi()
  await service.startWorker()
  const listed = await fetch(`${api.address}/v1/agent-tools`, { headers: { 'x-api-key': 'test-admin-key-0123456789' } })
  const names = (await listed.json() as { tools: Array<{ function: { name: string } }> }).tools.map(tool => tool.function.name)
  t.ok(names.includes('own'))
  t.notOk(names.includes('open'), 'it is not published')
  t.match(await service.client.call('open'), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /others than its owner/ } }, 'a worker refuses it as well')
  t.match(await service.client.call('own'), { ok: true, output: 'genuine' })
})

void t.test('fault 46 a directory that others may write to is as dangerous as such a program', async t => {
  const directory = t.testdir({ tools: { bin: { probe: script } }, 'tools.json': JSON.stringify({ tools: [{ name: 'probe', command: ['./tools/bin/probe'] }] }) })
  chmodSync(join(directory, 'tools/bin/probe'), 0o755)
  t.match(await validateManifests([join(directory, 'tools.json')]), { ok: true })
  chmodSync(join(directory, 'tools'), 0o777)
  const { ok, findings } = await validateManifests([join(directory, 'tools.json')], { strict: true })
  t.notOk(ok)
  t.match(findings.find(({ rule }) => rule === 'A11'), { severity: 'error', message: /may write to ".*\/tools"/ })
})

void t.test('fault 46 unknown fields of a skill and a $ref to another machine are refused, and nothing is fetched', async t => {
  const skill = { tools: [{ name: 'probe' }], allowlist: { sh: ['x'] }, execution: [{ tool: 'probe', binary: 'sh', subcommand: 'x', denyPattern: 'rm' }] }
  const remote = { tools: [{ name: 'remote', command: ['/bin/true'], schema: { $ref: 'http://127.0.0.1:1/schema.json' } }] }
  const directory = t.testdir({ skill: { 'SKILL.md': '# Probe', 'tools.json': JSON.stringify(skill) }, 'tools.json': JSON.stringify(remote) })
  t.match((await validateManifests([join(directory, 'skill')])).findings, [{ severity: 'error', message: /unknown field `denyPattern`/ }])
  t.match((await validateManifests([join(directory, 'tools.json')])).findings, [{ severity: 'error', message: /outside of it/ }])
})

void t.test('fault 47 a manifest that becomes invalid while the service runs changes nothing, and a valid one is served', async t => {
  const service = await createService(t, { tools: [{ name: 'own', command: ['./tools/bin/own'] }], files: { 'tools/bin/own': script } })
  const file = join(service.dir, 'tools.json')
  for (const broken of ['{ "tools": [', '{ "tools": [{ "name": "" }] }']) {
    const before = (await service.api.output()).split('served as they were').length
    writeFileSync(file, broken)
    await refusals(service.api.output, before)
    t.match(await service.client.call('own'), { ok: true, output: 'genuine' })
  }
  writeFileSync(file, JSON.stringify({ tools: [{ name: 'new', command: ['./tools/bin/own'] }] }))
  const answer = await waitFor('the mended manifest is served', async () => {
    const result = await service.client.call('new')
    return result.ok === true && result
  })
  t.equal(answer.output, 'genuine')
})

void t.test('fault 48 a program that differs from its pin is not run', async t => {
  const pinned = { command: ['./tools/bin/own'], sha256: digest(script) }
  const service = await createService(t, {
    tools: [{ name: 'own', ...pinned }, { name: 'open', ...pinned, command: ['./tools/bin/open'] }],
    files: { 'tools/bin/own': script, 'tools/bin/open': script },
    env: { SANDBOX: skip === false ? 'require' : 'auto' }
  })
  const program = join(service.dir, 'tools/bin/own')
  t.match(await service.client.call('own'), { ok: true, output: 'genuine' })
  const forged = script.replace('genuine', 'forgery')
  writeFileSync(program, forged)
  t.match(await service.client.call('own'), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /not the one that its manifest pins/ } }, 'written to, with its length kept')
  writeFileSync(join(service.dir, 'forged'), forged, { mode: 0o755 })
  renameSync(join(service.dir, 'forged'), join(service.dir, 'tools/bin/open'))
  t.match(await service.client.call('open'), { ok: false, error: { code: 'TOOL_UNAVAILABLE' } }, 'replaced')
  writeFileSync(program, script)
  t.match(await service.client.call('own'), { ok: true, output: 'genuine' }, 'and run again when it is the same again')
  const { findings } = await validateManifests([join(service.dir, 'tools.json')])
  t.match(findings.filter(({ severity }) => severity === 'error'), [{ rule: 'fault 48', tool: 'open' }])
})

void t.test('fault 48 a box runs the copy that was checked, even if the file changes meanwhile', { skip }, async t => {
  const tools = await boxedTools(t)
  mkdirSync(join(tools.base, 'tools/lib'))
  const slow = '#!/bin/sh\ncat "$0"\n'
  const file = tools.program('slow', slow)
  const shown = await Promise.all(Array.from({ length: 20 }, async (_, turn) => {
    const outcome = await tools.run({ program: file, sha256: digest(slow) })
    // Swapped while others are between their check and their start.
    if (turn % 2 === 0) writeFileSync(file, `${slow}# forged\n`)
    else writeFileSync(file, slow)
    return outcome
  }))
  for (const outcome of shown) {
    if (outcome.ok) t.equal(outcome.output, slow.trim())
    else t.equal(outcome.error.code, 'TOOL_UNAVAILABLE')
  }
  t.ok(shown.some(({ ok }) => ok))
  t.match(readFileSync(file, 'utf8'), /^#!/)
})

void t.test('fault 48 a Python module that is pinned is the file that was checked: no cache, package or compiled module beside it', async t => {
  const source = (word: string): string => `from toolyard import Tool\nclass Own(Tool):\n    def execute(self):\n        return "${word}"\n`
  const pinned = { module: 'tools.own', class_name: 'Own', python_root: 'python', permissions: [], sha256: digest(source('genuine')) }
  for (const sandbox of skip === false ? ['require', 'off'] : ['off']) {
    const service = await createService(t, {
      manifests: ['bundle.json'],
      files: { 'bundle.json': bundleOf({ name: 'own', description: 'Says what it is', ...pinned }), 'python/tools/own.py': source('genuine') },
      env: { SANDBOX: sandbox }
    })
    const beside = (path: string): string => join(service.dir, 'python/tools', path)
    const { atime, mtime } = statSync(beside('own.py'))
    writeFileSync(beside('own.py'), source('forgery'))
    utimesSync(beside('own.py'), atime, mtime)
    t.equal(spawnSync('python3', ['-m', 'compileall', '-q', beside('own.py')]).status, 0)
    writeFileSync(beside('own.py'), source('genuine'))
    utimesSync(beside('own.py'), atime, mtime)
    t.match(await service.client.call('own'), { ok: true, output: 'genuine' }, `${sandbox}: a cache`)
    mkdirSync(beside('own'))
    writeFileSync(beside('own/__init__.py'), source('forgery'))
    // The template of the module is made anew.
    writeFileSync(beside('own.py'), `${source('genuine')}\n`)
    writeFileSync(beside('own.py'), source('genuine'))
    t.match(await service.client.call('own'), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /own\/__init__\.py comes before .*own\.py, which its manifest pins/ } }, `${sandbox}: a package`)
    await service.startWorker()
    await service.workers[0]?.stop()
    t.match(await service.client.call('own'), { ok: false, error: { code: 'TOOL_UNAVAILABLE' } }, `${sandbox}: a worker that finds the package first`)
  }
})

async function refusals (output: () => Promise<string>, before: number): Promise<void> {
  await waitFor('the new version is refused', async () => (await output()).split('served as they were').length > before)
}
