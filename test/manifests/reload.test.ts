import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { loadRegistry, openRegistrySource } from '@toolyard/manifests'
import { waitFor } from '../support/condition.ts'
import { entry, names } from './fixture.ts'
import { descriptor, manifestOf, project, told } from './project.ts'

t.test('a reload makes a new registry from the current files, and the old one doesn\'t change', async t => {
  const directory = project(t, { 'a.json': { tools: [entry({ name: 'a' })] }, 'b.yaml': 'tools: [{name: b, description: d, module: mods.probe}]\nmetadata: {name: a, description: b}\nschema_version: "1.0"\n' })
  const before = await loadRegistry({ manifests: ['a.json', 'b.yaml'].map(name => join(directory, name)), builtins: false })
  const same = await before.reload()
  t.equal(same.version, before.version)
  t.not(same, before)
  writeFileSync(join(directory, 'a.json'), JSON.stringify({ tools: [entry({ name: 'c' })] }))
  writeFileSync(join(directory, 'b.yaml'), 'tools: [')
  const after = await same.reload()
  t.strictSame([names(before), names(after)], [['a', 'b'], ['c']])
  t.not(after.version, before.version)
  t.match(told(after), [/^error PC2 Invalid YAML/])
  writeFileSync(join(directory, 'b.yaml'), '')
  rmSync(join(directory, 'a.json'))
  t.strictSame(names(await after.reload()), [])
})

t.test('a skill whose front matter holds itself, or more than it says by aliases, is a finding; the others serve, and a reload that meets it goes on', async t => {
  const skill = (metadata: string): string => `---\nname: odd\ndescription: Odd.\nmetadata: ${metadata}\n---\nText.\n`
  const many = `{a: &a ${'x'.repeat(9_000)}, b: [${'*a, '.repeat(60)}*a]}`
  for (const metadata of ['&m {a: *m}', '&m {a: [{b: *m}]}', many, '{a: .nan}']) {
    const directory = project(t, { 'skills/good/SKILL.md': '---\nname: good\ndescription: Good.\n---\nText.\n', 'skills/odd/SKILL.md': skill('{a: b}') })
    const source = await openRegistrySource({ manifests: [join(directory, 'skills')], builtins: false, intervalMs: 60_000, onReload: () => {} })
    t.teardown(() => { source.close() })
    t.same(source.current().skills().map(({ name }) => name), ['good', 'odd'])
    writeFileSync(join(directory, 'skills/odd/SKILL.md'), skill(metadata))
    await source.reload()
    t.match(source.problems().map(({ file, rule, severity }) => ({ file, rule, severity })), [{ file: join(directory, 'skills/odd/SKILL.md'), rule: 'SC22', severity: 'error' }])
    const registry = await loadRegistry({ manifests: [join(directory, 'skills')], builtins: false })
    t.same(registry.skills().map(({ name }) => name), ['good'], metadata.slice(0, 20))
  }
})

t.test('a reload that meets a fault of the program itself takes nothing away, and the next one reads what is there', async t => {
  const directory = project(t, { 'a.json': { tools: [entry({ name: 'a' })] } })
  let isBroken = false
  const skills = { get shell (): boolean { if (isBroken) throw new Error('never foreseen'); return false } }
  const source = await openRegistrySource({ manifests: [join(directory, 'a.json')], builtins: false, skills, intervalMs: 60_000, onReload: () => {} })
  t.teardown(() => { source.close() })
  writeFileSync(join(directory, 'a.json'), JSON.stringify({ tools: [entry({ name: 'b' })] }))
  isBroken = true
  t.match(await source.reload(), { kind: 'unchanged', errors: [{ severity: 'error', file: join(directory, 'a.json'), message: /never foreseen/ }] })
  t.same([names(source.current()), source.problems().length], [['a'], 1])
  isBroken = false
  t.match(await source.reload(), { kind: 'replaced', errors: [], hadErrors: true })
  t.same([names(source.current()), source.problems().length], [['b'], 0])
})

t.test('a reload that is asked for while another one runs reads what has changed meanwhile', async t => {
  const directory = project(t, { 'a.json': { tools: [entry({ name: 'a' })] } })
  const file = join(directory, 'a.json')
  let afterRead = (): void => {}
  const skills = { get shell (): boolean { afterRead(); return false } }
  const source = await openRegistrySource({ manifests: [file], builtins: false, skills, intervalMs: 60_000, onReload: () => {} })
  t.teardown(() => { source.close() })
  const asked: Array<Promise<unknown>> = []
  let reads = 0
  // Each load asks for it before it reads the files, and after.
  afterRead = () => {
    if (++reads !== 2) return
    writeFileSync(file, JSON.stringify({ tools: [entry({ name: 'b' })] }))
    asked.push(source.reload(), source.reload())
  }
  await source.reload()
  t.equal(asked.length, 2)
  await Promise.all(asked)
  t.strictSame([names(source.current()), reads], [['b'], 4], 'one more load is enough for all')
})

t.test('arguments are checked against the new schema after a reload', async t => {
  const schema = (type: string) => JSON.stringify({ tools: [entry({ schema: { type: 'object', properties: { a: { type, pattern: '^x+$' } } } })] })
  const directory = project(t, { 'a.json': schema('string') })
  const before = await loadRegistry({ manifests: [join(directory, 'a.json')] })
  t.match([before.get('probe')?.validate({ a: 'x' }), before.get('probe')?.validate({ a: 'y' })], [{ ok: true }, { ok: false }])
  const same = await before.reload()
  t.match([same.get('probe')?.validate({ a: 'x' }), same.get('probe')?.validate({ a: 'y' })], [{ ok: true }, { ok: false }])
  writeFileSync(join(directory, 'a.json'), schema('integer'))
  const after = await same.reload()
  t.match([before, after].map(registry => registry.get('probe')?.validate({ a: 1 })), [{ ok: false }, { ok: true }])
})

t.test('the registry names every file and directory that it was read from, and the targets of links', async t => {
  const directory = project(t, { 'real/a.json': manifestOf(descriptor({ python_root: '..' })), 'dir/tools.json': { tools: [] } })
  symlinkSync('real/a.json', join(directory, 'link.json'))
  const registry = await loadRegistry({ manifests: [join(directory, 'link.json'), join(directory, 'dir'), join(directory, 'missing.yaml'), join(directory, 'real/a.json')] })
  // Seen through the link, the Python root is another one: the module that is looked for there is outside.
  const files = registry.files.filter(file => file.startsWith(`${directory}/`)).map(file => file.slice(directory.length + 1))
  t.strictSame(files, ['link.json', 'real/a.json', 'dir', 'dir/tools.json', 'missing.yaml', 'mods/probe.py'])
})

t.test('a reload keeps the tools that a fault takes away, and takes all else (fault 47)', async t => {
  const tool = (name: string, fields = {}): Record<string, unknown> => descriptor({ name, ...fields })
  const broken = tool('broken', { module: 'mods.nope' })
  const file = join(project(t, { 'a.json': manifestOf(tool('one'), broken, tool('two')) }), 'a.json')
  const source = await openRegistrySource({ manifests: [file], builtins: false, intervalMs: 60_000, onReload: () => {} })
  t.teardown(() => { source.close() })
  const reload = async (text: string): Promise<unknown> => {
    writeFileSync(file, text)
    const { kind, errors } = await source.reload()
    t.strictSame(source.problems(), errors)
    return [kind, source.current().published().map(({ tool: { name, description } }) => `${name}: ${description}`), errors.length > 0]
  }
  const [one, two] = ['one: Looks at something.', 'two: Looks at something.']
  t.strictSame(await reload('{"tools": ['), ['unchanged', [one, two], true], 'a file that can\'t be read stays as a whole')
  t.strictSame(await reload(JSON.stringify(manifestOf(tool('one', { description: 'New.' }), broken, tool('two', { description: 5 })))), ['replaced', ['one: New.', two], true])
  t.strictSame(await reload(JSON.stringify(manifestOf(tool('three'), tool('two', { description: 5 }), tool('one')))), ['replaced', ['three: Looks at something.', one, two], true], 'and once more')
  t.strictSame(await reload(JSON.stringify(manifestOf(tool('one'), broken))), ['replaced', [one], false], 'what is removed is gone')
  t.strictSame(await reload(JSON.stringify(manifestOf(tool('one'), broken, tool('other', { module: 'mods.none' }), tool('three')))), ['replaced', [one, 'three: Looks at something.'], false], 'a new entry that is broken takes nothing away')
})

t.test('a reload keeps a skill whose file has a fault, and takes the others', async t => {
  const skill = (name: string, text: string): string => `---\nname: ${name}\ndescription: ${text}\n---\nUse it.\n`
  const directory = project(t, { 'skills/a/SKILL.md': skill('a', 'First.'), 'skills/b/SKILL.md': skill('b', 'First.') })
  const source = await openRegistrySource({ manifests: [join(directory, 'skills')], builtins: false, intervalMs: 60_000, onReload: () => {} })
  t.teardown(() => { source.close() })
  writeFileSync(join(directory, 'skills/a/SKILL.md'), skill('a', 'Second.'))
  writeFileSync(join(directory, 'skills/b/SKILL.md'), '---\nname: [\n---\n')
  await source.reload()
  t.strictSame(source.current().skills().map(({ name, description }) => `${name}: ${description}`), ['a: Second.', 'b: First.'])
})

t.test('a reload keeps what a directory of skills or a file served that can\'t be read any more, until it can be again', async t => {
  const skill = (name: string): string => `---\nname: ${name}\ndescription: Does it.\n---\nText.\n`
  const directory = project(t, { 'skills/one/SKILL.md': skill('one'), 'alone/SKILL.md': skill('alone'), 'a.json': { tools: [entry({ name: 'a' })] } })
  const manifests = ['skills', 'alone', 'a.json'].map(name => join(directory, name))
  const source = await openRegistrySource({ manifests, builtins: false, intervalMs: 60_000, onReload: () => {} })
  t.teardown(() => { source.close() })
  const served = (): string[] => [...source.current().skills().map(({ name }) => name), ...source.current().get('a') === undefined ? [] : ['a']]
  t.same(served(), ['one', 'alone', 'a'])
  // As where a volume is not mounted, and where it is mounted anew.
  for (const replace of [(_path: string) => {}, (path: string) => { mkdirSync(path) }]) {
    for (const path of manifests) {
      renameSync(path, `${path}.away`)
      replace(path)
    }
    await source.reload()
    t.same(served(), ['one', 'alone', 'a'])
    t.equal(source.problems().length, 3)
    for (const path of manifests) {
      rmSync(path, { recursive: true, force: true })
      renameSync(`${path}.away`, path)
    }
    await source.reload()
    t.same([served(), source.problems()], [['one', 'alone', 'a'], []])
  }
  renameSync(join(directory, 'skills/one'), join(directory, 'skills/two'))
  writeFileSync(join(directory, 'skills/two/SKILL.md'), skill('two'))
  await source.reload()
  t.same(served(), ['two', 'alone', 'a'], 'a skill that is removed is not kept')
})

t.test('a tool whose module was missing is served as soon as the module exists', async t => {
  const directory = project(t, { 'a.json': manifestOf(descriptor({ module: 'late.tool', python_root: '.' })) })
  const source = await openRegistrySource({ manifests: [join(directory, 'a.json')], builtins: false, intervalMs: 20, onReload: () => {} })
  t.teardown(() => { source.close() })
  const unavailable = (): string | undefined => source.current().all()[0]?.tool.unavailable
  t.match(unavailable(), /no module named "late.tool"/)
  mkdirSync(join(directory, 'late'))
  writeFileSync(join(directory, 'late/tool.py'), 'class Probe:\n    pass\n')
  await waitFor('the module is found', () => Promise.resolve(!/no module/.test(unavailable() ?? '')))
})

t.test('a skill that is written into an empty directory of skills is served, though its directory appears before its files', async t => {
  const skills = join(project(t, { 'skills/none.txt': '' }), 'skills')
  mkdirSync(join(skills, 'dates'))
  let reloads = 0
  const source = await openRegistrySource({ manifests: [skills], builtins: false, intervalMs: 5, onReload: () => { reloads++ } })
  t.teardown(() => { source.close() })
  t.strictSame(source.current().published(), [])
  const files = {
    'tools.json': JSON.stringify({ tools: [{ name: 'day', description: 'd', parameters: { type: 'object' } }], allowlist: { date: ['-u'] }, execution: [{ tool: 'day', binary: 'date', subcommand: '-u', args: [] }] }),
    'SKILL.md': '---\nname: dates\ndescription: Dates.\n---\nUse it.\n'
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(skills, 'dates', name), text)
  await waitFor('the skill is found', () => Promise.resolve(source.current().published().some(({ tool: { name } }) => name === 'day')))
  t.ok(reloads > 0)
})

t.test('a reload uses the checks of arguments of the load before, where a schema is as it was', async t => {
  const ofTool = (name: string, schema: object): Record<string, unknown> => entry({ name, schema: { type: 'object', properties: schema } })
  const directory = project(t, {})
  const file = join(directory, 'a.json')
  const load = (...tools: unknown[]): void => { writeFileSync(file, JSON.stringify({ tools })) }
  load(ofTool('same', { a: { pattern: '^a+$' } }), ofTool('changed', { b: { pattern: '^b+$' } }))
  const before = await loadRegistry({ manifests: [file], builtins: false })
  load(ofTool('changed', { b: { pattern: '^b*$' } }), ofTool('same', { a: { pattern: '^a+$' } }))
  const after = await before.reload()
  const isTheSame = (name: string): boolean => after.get(name)?.validate === before.get(name)?.validate
  t.ok(isTheSame('same'))
  t.notOk(isTheSame('changed'))
})

t.test('a reload reads the YAML that has changed, and no other', async t => {
  const yaml = (name: string, description: string): string => `# YAML, in its own way\n${JSON.stringify(manifestOf(descriptor({ name, description })))}`
  const directory = project(t, { 'a.yaml': yaml('a', 'A tool.'), 'b.yaml': yaml('b', 'Another tool.') })
  // eslint-disable-next-line @typescript-eslint/unbound-method -- It is called on the thread, as before.
  const posted = t.capture(Worker.prototype, 'postMessage', Worker.prototype.postMessage)
  const first = await loadRegistry({ manifests: ['a.yaml', 'b.yaml'].map(name => join(directory, name)), builtins: false })
  t.equal(posted().length, 2, 'each text goes to a thread')
  const second = await first.reload()
  t.equal(posted().length, 0)
  writeFileSync(join(directory, 'b.yaml'), yaml('b', 'Changed.'))
  const third = await second.reload()
  t.equal(posted().length, 1)
  t.equal(third.get('b')?.tool.description, 'Changed.')
})
