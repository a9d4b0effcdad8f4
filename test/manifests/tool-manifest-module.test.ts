import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { loadRegistry, type PythonRun, type Registry } from '@toolyard/manifests'
import { processorMs } from '../support/processor-time.ts'
import { errors } from './fixture.ts'
import { descriptor, manifestOf, project, told } from './project.ts'

const source = 'class Probe(Tool):\n    pass\n'

async function loadIn (directory: string, fields: Record<string, unknown>, file = 'config/m.json'): Promise<Registry> {
  mkdirSync(join(directory, 'config'), { recursive: true })
  writeFileSync(join(directory, file), JSON.stringify(manifestOf(descriptor(fields))))
  return await loadRegistry({ manifests: [join(directory, file)], builtins: false })
}

function runOf (registry: Registry): PythonRun | undefined {
  const run = registry.get('probe')?.tool.run
  return run?.kind === 'python' ? run : undefined
}

t.test('P15 P29 P30 the Python root is the nearest directory above the manifest that has the module', async t => {
  const directory = project(t, { 'src/bridge/tools/git_status.py': source, 'config/mods/probe.py': source, 'pack/age/__init__.py': source })
  for (const [module, root] of [['src.bridge.tools.git_status', directory], ['mods.probe', join(directory, 'config')], ['pack.age', directory]] as const) {
    const registry = await loadIn(directory, { module })
    t.strictSame(registry.findings, [])
    t.match(runOf(registry), { root, module })
    t.equal(registry.published().length, 1)
  }
})

t.test('P16 P17 a class is recognized by its declaration, not in strings and comments, and not when it is decorated', async t => {
  const told = '"""How to use it:\n\nclass Probe:\n    pass\n"""\n# class Probe:\nfrom toolyard import Tool\n\n\nclass Probe(Tool):\n    pass\n'
  const decorated = 'from other import as_tool\n\n\n@as_tool\nclass Probe:\n    pass\n'
  for (const text of [told, decorated]) {
    for (const fields of [{ class_name: 'Probe' }, {}]) {
      const registry = await loadIn(project(t, { 'mods/probe.py': text }), { module: 'mods.probe', ...fields })
      t.strictSame(registry.findings, [])
    }
  }
})

t.test('PC13 a module may be written as a path, with .py, or with a dot in front', async t => {
  const directory = project(t, { 'mods/sub/two.py': source })
  for (const module of ['mods/sub/two.py', './mods/sub/two.py', '.mods.sub.two', 'mods.sub.two', 'mods//sub/./two']) {
    t.match(runOf(await loadIn(directory, { module })), { root: directory, module })
  }
})

t.test('PC13 a module that is not found is looked for below tools', async t => {
  const directory = project(t, { 'tools/three.py': source })
  t.match(runOf(await loadIn(directory, { module: 'three.py' })), { root: directory, module: 'tools.three' })
})

t.test('P29 PC4 X16 a tool whose module is not on disk is not published, and the error says where it was looked for', async t => {
  const directory = project(t, { 'mods/empty/x.txt': '' })
  for (const module of ['nope', 'mods.nope', 'mods.empty', '../outside', '..mods.probe', 'mods..probe', 'mods.probe.', '.', '/etc/passwd', 'mods\\probe', 'a\0b']) {
    const registry = await loadIn(directory, { module })
    t.match(errors(registry), [{ rule: 'P29', message: /^tools\[0\]\.module import failed \(.+\)$/s }], module)
    t.strictSame([registry.all().length, registry.published().length], [1, 0], 'it is known, so that a call gets its own error')
    t.match(registry.get('probe')?.tool.unavailable, /^module import failed/)
  }
})

t.test('P29 python_root names the root, seen from the manifest; an entry\'s own wins', async t => {
  const directory = project(t, { 'lib/python/probe.py': source, 'other/probe.py': source })
  t.match(runOf(await loadIn(directory, { module: 'probe', python_root: '../lib/python' })), { root: join(directory, 'lib/python') })
  t.match(runOf(await loadIn(directory, { module: 'probe', python_root: join(directory, 'other') })), { root: join(directory, 'other') })
  t.match(errors(await loadIn(directory, { module: 'mods.probe', python_root: '../lib' })), [{ rule: 'P29' }], 'nowhere else is looked for it')
  const file = join(directory, 'config/all.json')
  writeFileSync(file, JSON.stringify({ ...manifestOf(descriptor({ module: 'probe' }), descriptor({ name: 'own', module: 'probe', python_root: '../other' })), python_root: '../lib/python' }))
  const registry = await loadRegistry({ manifests: [file], builtins: false })
  t.match(registry.all().map(({ tool }) => tool.run), [{ root: join(directory, 'lib/python') }, { root: join(directory, 'other') }])
  writeFileSync(file, JSON.stringify({ ...manifestOf(descriptor()), python_root: 7 }))
  t.match((await loadRegistry({ manifests: [file], builtins: false })).findings, [{ severity: 'error', message: 'python_root must be a non-empty string' }])
})

t.test('P29 a directory that all users share is no Python root', async t => {
  const directory = project(t, { 'shared/planted.py': source, 'shared/app/own.py': source })
  chmodSync(join(directory, 'shared'), 0o1777)
  const file = 'shared/app/m.json'
  t.match(errors(await loadIn(directory, { module: 'planted' }, file)), [{ rule: 'P29' }])
  t.match(runOf(await loadIn(directory, { module: 'own' }, file)), { root: join(directory, 'shared/app') })
})

t.test('P29 sources that other users may change are a warning', async t => {
  const directory = project(t, { 'outside.py': source, 'app/open.py': source })
  chmodSync(join(directory, 'app/open.py'), 0o666)
  symlinkSync('../outside.py', join(directory, 'app/linked.py'))
  for (const [module, message] of [['open', /may be replaced by others than its owner/], ['linked', /is a symbolic link out of the Python root/]] as const) {
    const registry = await loadIn(directory, { module }, 'app/m.json')
    t.match(registry.findings, [{ severity: 'warning', rule: 'P29', message }])
    t.equal(registry.published().length, 1)
  }
})

async function classFindings (t: Test, text: string, className?: string): Promise<string[]> {
  const directory = project(t, { 'mods/probe.py': text })
  return told(await loadIn(directory, className === undefined ? {} : { class_name: className }))
}

t.test('P16 PC4 a class that the module certainly does not have, or that can\'t be a Tool, is an error', async t => {
  t.strictSame(await classFindings(t, source, 'Other'), ["error P16 tools[0].class_name 'Other' not found in module"])
  for (const text of ['class Probe:\n    pass\n', 'class Probe():\n    pass\n']) {
    t.strictSame(await classFindings(t, text, 'Probe'), ["error P16 tools[0].class_name 'Probe' must inherit from Tool"])
  }
})

t.test('P17 PC4 a module without a class that could be a Tool is an error', async t => {
  for (const text of ['', 'x = 1\n', 'class Probe:\n    pass\n']) {
    t.strictSame(await classFindings(t, text), ['error P17 tools[0].no Tool subclass found in module'])
  }
})

t.test('P17 PC14 what the text of a module does not show is left to the worker', async t => {
  for (const text of ['from a import Probe\n', 'from a import *\n', 'Probe = type("Probe", (Tool,), {})\n', 'globals()["Probe"] = 1\n', 'if 1:\n    class Probe(Tool):\n        pass\n']) {
    t.strictSame(await classFindings(t, text, 'Probe'), [], text)
  }
  for (const text of ['class Größe (Tool): pass\n', 'class A[T](Tool): pass\n', 'from a import *\n']) t.strictSame(await classFindings(t, text), [], text)
})

t.test('PC14 a source is judged in linear time, whatever stands behind an import', async t => {
  for (const text of [`import${' '.repeat(200_000)}`, `import(${'\t'.repeat(200_000)}`, `type${' '.repeat(200_000)}`]) {
    const before = processorMs()
    t.strictSame(await classFindings(t, text), ['error P17 tools[0].no Tool subclass found in module'])
    t.ok(processorMs() - before < 2_000, text.slice(0, 10))
  }
  for (const text of ['from a import *', 'from a import  ( *', 'from a import(*']) t.strictSame(await classFindings(t, text), [], text)
})
