import { loadRegistry, perEntry, type Registry } from '@toolyard/manifests'
import fc from 'fast-check'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'

const name = fc.constantFrom('one', 'two', 'three', 'four', '')
const schema = fc.constantFrom<unknown>(
  undefined, { type: 'object', properties: { a: { type: 'string', default: 'x' } } }, { type: 'object', properties: { a: { type: 'integer', maximum: 5, default: 9 } } },
  { type: 'nonsense' }, [], { $ref: '#' }
)
const entry = fc.oneof(
  fc.record({
    name,
    description: fc.constantFrom('Does one thing.', 'Does another.'),
    command: fc.constantFrom<unknown>(['/bin/cat'], ['./tools/bin/missing'], [], 'cat', ['cat', 7]),
    schema,
    timeoutSec: fc.constantFrom<unknown>(1, 5_000, 'soon', 1.5),
    permissions: fc.constantFrom<unknown>(['read_repo'], ['fly'], null),
    network: fc.constantFrom<unknown>(undefined, ['api.example.com'], [' ']),
    policy: fc.constantFrom<unknown>(undefined, [{ when: 'args.a == "x"', then: 'deny', reason: 'no' }], [{ when: 'args.(', then: 'deny' }]),
    publishAs: fc.constantFrom<unknown>(undefined, { name: 'other' }, 7),
    tags: fc.constantFrom<unknown>(undefined, ['money'], 7),
    surprise: fc.constantFrom<unknown>(undefined, true)
  }, { requiredKeys: ['name', 'command'] }),
  fc.record({ name, enabled: fc.boolean() }),
  fc.constantFrom<unknown>(null, 7, { name: 'web', http: { url: 'https://api.example.com/x' } }, { name: 'web', http: { url: 'nowhere' } })
)
const manifest = fc.record({ tools: fc.array(entry, { maxLength: 6 }), namespace: fc.constantFrom('billing', 'mail') }, { requiredKeys: ['tools'] })

/** All that a registry says. */
async function told (registry: Registry): Promise<unknown> {
  const tools = registry.all().map(({ tool, version, entry }) => ({ tool, version, entry }))
  const checks = await Promise.all(registry.all().map(async tool => await tool.check({ a: 'y' })))
  const published = registry.published().map(({ tool }) => tool.name)
  return { version: registry.version, tools, checks, findings: registry.findings, published }
}

void t.test('a reload finds what a load from nothing would, whatever stood in the manifest before', async t => {
  const dir = mkdtempSync(join(tmpdir(), 'toolyard-reload-'))
  t.teardown(() => { rmSync(dir, { recursive: true }) })
  const file = join(dir, 'tools.json')
  await fc.assert(fc.asyncProperty(fc.array(manifest, { minLength: 2, maxLength: 5 }), async manifests => {
    let registry: Registry | undefined
    for (const each of manifests) {
      writeFileSync(file, JSON.stringify(each))
      const fresh = await loadRegistry({ manifests: [file], builtins: false })
      registry = await (registry?.reload() ?? loadRegistry({ manifests: [file], builtins: false }))
      t.strictSame(await told(registry), await told(fresh))
    }
  }), { numRuns: 150 })
})

void t.test('a tool whose entry did not change is the same after a reload, and nothing of it is made anew', async t => {
  const dir = mkdtempSync(join(tmpdir(), 'toolyard-reload-'))
  t.teardown(() => { rmSync(dir, { recursive: true }) })
  const file = join(dir, 'tools.json')
  const entries = (description: string): string => JSON.stringify({ namespace: 'all', tools: ['a', 'b'].map(each => ({ name: each, description: each === 'a' ? description : 'B', command: ['/bin/cat'] })) })
  writeFileSync(file, entries('A'))
  const before = await loadRegistry({ manifests: [file], builtins: false })
  writeFileSync(file, entries('Another'))
  const after = await before.reload()
  t.equal(after.get('b'), before.get('b'))
  t.not(after.get('a'), before.get('a'))
  t.equal(after.get('a')?.tool.description, 'Another')
})

void t.test('what could not be found out of an entry is tried again, and what could is kept', async t => {
  const entry = {}
  const answers = ['fails', 'works', 'is not asked for']
  const lookAt = perEntry<Promise<string>>()
  const look = async (): Promise<string> => await lookAt(entry, async () => {
    const answer = answers.shift() ?? ''
    if (answer === 'fails') throw new Error(answer)
    return await Promise.resolve(answer)
  })
  await t.rejects(look(), /fails/)
  t.equal(await look(), 'works')
  t.equal(await look(), 'works')
})
