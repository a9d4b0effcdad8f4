import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openRegistrySource, type ImportFaults, type Registry } from '@toolyard/manifests'
import { entry } from './fixture.ts'
import { descriptor, loadProject, manifestOf, project, told } from './project.ts'

const fault = { what: 'module', reason: 'ImportError: no' } as const
/** A fault of the tool of this name that the manifest at this place declares. */
const faultsOf = (registry: Registry, name: string, file: string): ImportFaults =>
  new Map(registry.imported().filter(({ tool }) => tool.name === name && tool.source.file.endsWith(file)).map(({ key }) => [key, fault]))
const published = (registry: Registry): string[] => registry.published().map(({ tool }) => tool.name)

t.test('P29 X16 a tool that can\'t be imported is not published until the fault is gone', async t => {
  const registry = await loadProject(t, { 'a.json': manifestOf(descriptor({ name: 'a' }), descriptor({ name: 'b' })) })
  const marked = registry.withImportFaults(faultsOf(registry, 'a', 'a.json'))
  t.strictSame([published(registry), published(marked)], [['a', 'b'], ['b']])
  t.equal(marked.get('a')?.tool.unavailable, 'tools[0].module import failed (ImportError: no)')
  t.strictSame(told(marked), ['error P29 tools[0].module import failed (ImportError: no)'])
  t.not(marked.version, registry.version)
  t.strictSame(published(marked.withImportFaults(new Map())), ['a', 'b'])
})

t.test('P29 the remedy names the Python that tried the module, and how it gets what is missing', async t => {
  const registry = await loadProject(t, { 'a.json': manifestOf(descriptor({ name: 'a' })) })
  const fixOf = (reason: string): unknown => {
    const faults = new Map([...faultsOf(registry, 'a', 'a.json').keys()].map(key => [key, { what: 'module' as const, reason, python: '/opt/py/bin/python3' }]))
    return registry.withImportFaults(faults).findings.find(({ rule }) => rule === 'P29')?.fix
  }
  t.equal(fixOf("ModuleNotFoundError: No module named 'numpy.linalg'"), 'Install it for /opt/py/bin/python3, which has tried it: /opt/py/bin/python3 -m pip install numpy. Or begin PATH with the bin directory of a virtual environment that has it.')
  t.equal(fixOf('SyntaxError: invalid syntax'), 'Correct the module, or install what it imports for /opt/py/bin/python3, which has tried it.')
})

t.test('X16 a later tool that can\'t be imported leaves the earlier one of any format in place', async t => {
  const registry = await loadProject(t, { 'agentcli.json': { tools: [entry()] }, 'later.json': manifestOf(descriptor()) })
  t.equal(registry.get('probe')?.tool.run.kind, 'python')
  const marked = registry.withImportFaults(faultsOf(registry, 'probe', 'later.json'))
  t.equal(marked.get('probe')?.tool.run.kind, 'command')
  t.equal(marked.get('probe')?.tool.unavailable, undefined)
})

t.test('X16 declarations of one name in several layers are tried separately, except disabled and broken ones', async t => {
  const registry = await loadProject(t, {
    'one.json': manifestOf(descriptor(), descriptor({ name: 'off', enabled: false }), descriptor({ name: 'gone', module: 'mods.gone' })),
    'two.json': manifestOf(descriptor({ description: 'The later.' }))
  })
  t.strictSame(registry.imported().map(({ tool }) => tool.name), ['probe', 'probe'])
  t.equal(new Set(registry.imported().map(({ key }) => key)).size, 2)
  t.equal(registry.withImportFaults(faultsOf(registry, 'probe', 'one.json')).get('probe')?.tool.description, 'The later.')
  t.not(registry.withImportFaults(faultsOf(registry, 'probe', 'two.json')).get('probe')?.tool.description, 'The later.')
})

t.test('import faults stay after a reload, and don\'t make it fail', async t => {
  const file = join(project(t, { 'a.json': manifestOf(descriptor({ name: 'a' }), descriptor({ name: 'b' })) }), 'a.json')
  const source = await openRegistrySource({ manifests: [file], builtins: false, intervalMs: 60_000, onReload: () => {} })
  t.teardown(() => { source.close() })
  t.strictSame(published(source.setImportFaults(faultsOf(source.current(), 'a', 'a.json'))), ['b'])
  writeFileSync(file, JSON.stringify(manifestOf(descriptor({ name: 'a' }), descriptor({ name: 'b' }), descriptor({ name: 'c' }))))
  t.equal((await source.reload()).kind, 'replaced')
  t.strictSame([published(source.current()), source.problems()], [['b', 'c'], []])
  t.strictSame(published(source.setImportFaults(new Map())), ['a', 'b', 'c'])
})

t.test('import faults that come at the end of a reload stay', async t => {
  const file = join(project(t, { 'a.json': manifestOf(descriptor({ name: 'a' }), descriptor({ name: 'b' })) }), 'a.json')
  const manifests = [file]
  let looks = 0
  let onLook = (): void => {}
  Object.defineProperty(manifests, Symbol.iterator, {
    value: function * () {
      looks++
      onLook()
      yield file
    }
  })
  const source = await openRegistrySource({ manifests, builtins: false, intervalMs: 60_000, onReload: () => {} })
  t.teardown(() => { source.close() })
  const before = looks
  await source.reload()
  const last = looks + looks - before
  onLook = () => {
    if (looks === last) queueMicrotask(() => { source.setImportFaults(faultsOf(source.current(), 'a', 'a.json')) })
  }
  await source.reload()
  t.equal(looks, last)
  t.strictSame(published(source.current()), ['b'])
})
