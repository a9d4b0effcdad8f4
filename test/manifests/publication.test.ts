import t from 'tap'
import { loadRegistry, toolSpec } from '@toolyard/manifests'
import { entry, load, loadTexts } from './fixture.ts'

t.test('A28 R6 a tool is published as an OpenAI function', async t => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  const registry = await load(t, entry({ description: 'Probes.', schema }))
  t.strictSame(registry.published().map(({ tool }) => toolSpec(tool)), [
    { type: 'function', function: { name: 'probe', description: 'Probes.', parameters: schema } }
  ])
})

t.test('A7 the schema is published unchanged', async t => {
  const schema = '{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","x-ui":{"b":1,"a":null},"properties":{"z":{"$ref":"#/definitions/t"},"a":{"default":[1]}},"definitions":{"t":{"type":"string"}}}'
  const { registry } = await loadTexts(t, [`{"tools":[{"name":"probe","command":["/bin/true"],"schema":${schema}}]}`])
  const tool = registry.get('probe')
  tool?.validate({ z: 'x' })
  t.equal(JSON.stringify(tool?.tool.parameters), schema)
})

t.test('AC11 R50 description and parameters are sent also when the manifest has none', async t => {
  for (const fields of [{}, { description: '', schema: null }]) {
    const registry = await load(t, entry(fields))
    t.strictSame(registry.published().map(({ tool }) => toolSpec(tool).function), [
      { name: 'probe', description: '', parameters: { type: 'object', properties: {} } }
    ])
  }
})

t.test('R7 R8 RC30 the built-in tools are declared as documented; further arguments are optional', async t => {
  const registry = await loadRegistry({ manifests: [] })
  const read = registry.get('data_file_read')?.tool
  t.match(read, { jobType: 'data.file_read', timeoutSec: 30, run: { kind: 'builtin' }, description: 'Read a UTF-8 text file from workspace.' })
  t.match(read?.parameters, {
    type: 'object',
    properties: { path: { type: 'string' }, max_bytes: { type: 'integer', minimum: 512, maximum: 1048576 } },
    additionalProperties: false
  })
  t.strictSame(read?.parameters['required'], ['path'])
  const search = registry.get('tools_file_search')?.tool
  t.match(search, { jobType: 'tools.file_search', timeoutSec: 45, run: { kind: 'builtin' }, description: 'Search files by path/name under workspace.' })
  t.match(search?.parameters, {
    type: 'object',
    properties: { query: { type: 'string' }, path: { type: 'string' }, max_results: { type: 'integer', minimum: 1, maximum: 200 }, include_hidden: { type: 'boolean' } },
    additionalProperties: false
  })
  t.strictSame(search?.parameters['required'], ['query'])
})

t.test('X12 a name that models do not accept is loaded and callable, but not published', async t => {
  const rejected = ['a b', 'get.time', 'ä', 'x'.repeat(65), 'a\n', '__proto__.x']
  const accepted = ['x'.repeat(64), 'Get-Time_1', '__proto__', 'constructor']
  const registry = await load(t, ...[...rejected, ...accepted].map(name => entry({ name })))
  t.strictSame(registry.published().map(({ tool }) => tool.name), accepted)
  t.strictSame(registry.findings.map(({ severity, rule, tool }) => [severity, rule, tool]), rejected.map(name => ['warning', 'X12', name]))
  t.ok(registry.get('a b')?.validate({}).ok)
})

t.test('X12 a tool is found by its exact name alone', async t => {
  const registry = await load(t, entry({ name: 'get_time' }))
  for (const name of ['Get_Time', ' get_time', 'get_time ', 'agentcli.get_time', 'toString', '']) t.equal(registry.get(name), undefined)
})

t.test('X23 job types fit their pattern, are the same every time, and differ for different tools', async t => {
  const names = ['get_time', 'Get_Time', 'GET_TIME', 'a b', 'a-b', 'a.b', 'a/b', 'ä', '!', 'x'.repeat(71), 'x'.repeat(72), 'x'.repeat(300), 'a']
  const jobTypes = async () => (await load(t, ...names.map(name => entry({ name })))).all().map(({ tool }) => tool.jobType)
  const first = await jobTypes()
  for (const jobType of first) t.match(jobType, /^[a-z0-9._-]{3,80}$/)
  t.equal(new Set(first).size, names.length)
  t.strictSame(first, await jobTypes())
  t.equal(first[0], 'agentcli.get_time')
  const imitation = await load(t, entry({ name: first[1]?.replace('agentcli.', '') }))
  t.notOk(first.includes(imitation.all()[0]?.tool.jobType ?? ''), 'a name made like a hashed one is hashed itself')
})

t.test('the version changes when, and only when, what is served changes', async t => {
  const version = async (...entries: Array<Record<string, unknown>>) => (await load(t, ...entries)).version
  const one = await version(entry())
  t.equal(await version(entry()), one)
  t.equal(await version(entry({ unknown: 1 })), one)
  const others = [[], [entry({ description: 'x' })], [entry({ schema: { type: 'object' } })], [entry({ timeoutSec: 1 })],
    [entry({ command: ['/bin/false'] })], [entry({ enabled: false })], [entry(), entry({ name: 'b' })], [entry({ name: 'b' }), entry()]]
  const versions = new Set([one])
  for (const entries of others) versions.add(await version(...entries))
  t.equal(versions.size, others.length + 1)
})

t.test('a thousand tools load with one finding for each that is wrong', async t => {
  const registry = await load(t, ...Array.from({ length: 1000 }, (_, index) => entry({ name: `tool_${index}`, schema: { type: 'object', properties: { a: { pattern: '^[a-z]+$' } } } })))
  t.equal(registry.published().length, 1000)
  t.strictSame(registry.findings, [])
})
