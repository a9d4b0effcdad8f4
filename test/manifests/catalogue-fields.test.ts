import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { importOpenapi, loadRegistry, refuseTooMany, validateManifests } from '@toolyard/manifests'
import { entry, errors, load } from './fixture.ts'
import { descriptor, manifestOf, project } from './project.ts'

t.test('entries of every format have a namespace, tags and a pin; the namespace of the manifest is for those without one', async t => {
  const directory = project(t, {
    'm.json': manifestOf(descriptor({ tags: ['one', 'two'], pinned: true })),
    'tools.json': {
      namespace: 'common',
      tools: [
        entry({ name: 'a', Tags: ['x'], pinned: false }),
        entry({ name: 'b', namespace: 'own' }),
        { name: 'c', namespace: null, pinned: true, http: { method: 'GET', url: 'https://example.com' } }
      ]
    },
    'skill/SKILL.md': '# Skill',
    'skill/tools.json': { tools: [{ name: 'd' }], allowlist: { sh: ['x'] }, execution: [{ tool: 'd', binary: 'sh', subcommand: 'x' }] }
  })
  const registry = await loadRegistry({ manifests: ['tools.json', 'm.json', 'skill'].map(name => join(directory, name)), builtins: false, skills: { path: process.env['PATH'] ?? '' } })
  const of = (name: string | undefined): object => {
    const { namespace, tags, pinned } = registry.get(name ?? '')?.tool ?? {}
    return { namespace, tags, pinned }
  }
  t.strictSame(of('a'), { namespace: 'common', tags: ['x'], pinned: undefined })
  t.strictSame(of('b'), { namespace: 'own', tags: undefined, pinned: undefined })
  t.strictSame(of('c'), { namespace: 'common', tags: undefined, pinned: true })
  t.strictSame(of(registry.all().find(({ tool }) => tool.source.format === 'tool-manifest')?.tool.name), { namespace: undefined, tags: ['one', 'two'], pinned: true })
  t.strictSame(of('d'), { namespace: 'skill', tags: undefined, pinned: undefined })
  t.same(registry.findings.filter(({ rule }) => ['A6', 'AC10', 'catalogue/fields'].includes(rule)), [])
})

t.test('fields of another type are told, and the tool is served without them', async t => {
  const registry = await load(t, entry({ namespace: 'x'.repeat(201), tags: 'word', pinned: 'yes' }))
  t.equal(registry.published().length, 1)
  t.match(registry.findings, [
    { severity: 'warning', rule: 'catalogue/fields', index: 0, message: 'tool[0]: namespace must be a text of 1 to 200 characters; it is ignored' },
    { message: 'tool[0]: tags must be at most 50 texts of 1 to 100 characters; it is ignored' },
    { message: 'tool[0]: pinned must be true or false; it is ignored' }
  ])
})

t.test('an imported document has its title as namespace, and its operations their tags', async t => {
  const found = await importOpenapi(JSON.stringify({
    openapi: '3.1.0', info: { title: 'Pet store', version: '1' }, servers: [{ url: 'https://example.com' }], paths: { '/pets': { get: { operationId: 'listPets', tags: ['pets', ''] } } }
  }))
  t.equal(found.title, 'Pet store')
  t.match(found.entries, [{ name: 'listPets', tags: ['pets'] }])
})

t.test('200,000 tools are refused with the bound, before any of them is read', async t => {
  const file = join(t.testdir(), 'tools.json')
  writeFileSync(file, JSON.stringify({ tools: Array.from({ length: 200_000 }, (_, at) => ({ name: `t${at}`, command: ['/bin/true'] })) }))
  const registry = await loadRegistry({ manifests: [file], builtins: false })
  t.match(errors(registry), [{ rule: 'catalogue/tools', message: 'has 200000 tools, and all manifests together may have 50000: none of it is served' }])
  t.equal(registry.all().length, 0)
})

t.test('manifests that have too many tools together lose the one that goes beyond', async t => {
  const registry = await load(t, entry())
  const tool = registry.all()[0]?.tool ?? t.fail('the tool is served') as never
  const layer = (count: number): Parameters<typeof refuseTooMany>[0][number] => ({ entries: Array.from({ length: count }, () => ({ kind: 'tool' as const, tool, override: false })), findings: [], files: [`/m${count}.json`] })
  const layers = refuseTooMany([layer(30_000), layer(30_001), layer(20_000)])
  t.same(layers.map(({ entries }) => entries.length), [30_000, 0, 20_000])
  t.match(layers[1]?.findings, [{ severity: 'error', file: '/m30001.json', message: /^has 30001 tools, and all manifests together may have 50000, of which 20000 are left/ }])
})

t.test('a validation for one provider tells what that one refuses, and what is sent instead', async t => {
  const directory = project(t, { 'tools.json': { tools: [entry({ description: 'Looks at what it gets.', schema: { type: 'object', properties: { 'a b': { type: 'array' } } } })] } })
  const advice = async (provider?: 'openai' | 'anthropic' | 'gemini'): Promise<object[]> => (
    (await validateManifests([join(directory, 'tools.json')], { provider })).findings.filter(({ rule }) => rule === 'lint/provider')
  )
  t.match(await advice('openai'), [{ message: /an empty "items" is added to lists \(chat, responses\)/, fix: 'Sent instead: {"type":"object","properties":{"a b":{"type":"array","items":{}}}}' }])
  t.equal((await advice('anthropic')).length, 2)
  t.match((await advice('anthropic'))[1], { fix: /"a_b":/ })
  t.match((await advice())[0], { fix: /^Nothing: calls are checked/ })
})
