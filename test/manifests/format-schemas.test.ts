import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import t from 'tap'
import { formatSchemas, validateManifests } from '@toolyard/manifests'
import { entry } from './fixture.ts'
import { descriptor, head, loadProject, manifestOf } from './project.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const directory = join(root, 'packages/manifests/schemas')

function checkOf (file: string): (value: unknown) => boolean {
  const { schema } = formatSchemas().find(each => each.file === file) ?? {}
  if (schema === undefined) throw new Error(`there is no ${file}`)
  const validate = new Ajv({ strict: false }).compile(schema)
  return value => validate(value) === true
}

t.test('the JSON Schemas in the repository are those of the loader (npm run schemas)', async t => {
  t.strictSame((await readdir(directory)).sort(), formatSchemas().map(({ file }) => file).sort())
  for (const { file, schema } of formatSchemas()) t.strictSame(JSON.parse(await readFile(join(directory, file), 'utf8')), schema, file)
})

t.test('P26 P33 the manifests that ship keep to the schemas, and are valid without a warning', async t => {
  const samples = [['agentcli.json', 'tools.json'], ['tool-manifest.json', 'tool_manifest.json'], ['skill.json', 'skills/calendar/tools.json']] as const
  for (const [schema, sample] of samples) t.ok(checkOf(schema)(JSON.parse(await readFile(join(root, 'samples', sample), 'utf8'))), sample)
  const { findings } = await validateManifests([join(root, 'samples/tool_manifest.json')], { strict: true })
  t.strictSame(findings, [])
})

t.test('A1 an agentcli manifest that the schema refuses is refused by the loader too, and the other way round', async t => {
  const valid = checkOf('agentcli.json')
  const cases: Array<Record<string, unknown>> = [
    {}, { description: 'x', timeoutSec: 5, envPassthrough: ['TZ'], schema: {} }, { permissions: ['network'] }, { more: 1 },
    { name: '' }, { name: 7 }, { command: [] }, { command: 'x' }, { schema: [] }, { timeoutSec: 1.5 }, { envPassthrough: 'TZ' }, { permissions: 'network' }, { enabled: 'no' }
  ]
  for (const fields of cases) {
    const manifest = { tools: [entry(fields)] }
    const loaded = (await loadProject(t, { 'tools.json': manifest })).all().length === 1
    t.equal(valid(manifest), loaded, JSON.stringify(fields))
  }
  t.ok(valid({ $schema: './agentcli.json', tools: [{ name: 'a', enabled: false }] }))
})

t.test('P8 P9 P10 P12 a tool manifest that the schema refuses has an error or is nonconforming, and the other way round', async t => {
  const valid = checkOf('tool-manifest.json')
  const manifests: Array<Record<string, unknown>> = [
    ...[{}, { runtime: { timeout_seconds: 0.5 } }, { inputs: { a: { type: 'string', minLength: 1 } } }, { more: 1 }, { name: 'A' }, { description: '' }, { module: 1 },
      { permissions: null }, { inputs: { a: {} } }, { inputs: [] }, { outputs: { a: { type: 'x' } } }, { runtime: { timeout_seconds: 0 } }, { config: 1 }, { notes: 1 }, { python_root: '' }
    ].map(fields => manifestOf(descriptor(fields))),
    manifestOf({ name: 'probe', enabled: false }), manifestOf(), manifestOf(1), { ...head, tools: {} }, { metadata: head.metadata, tools: [descriptor()] }, { schema_version: '1.0', tools: [descriptor()] }
  ]
  for (const manifest of manifests) {
    const { findings } = await loadProject(t, { 'm.json': manifest })
    t.equal(valid(manifest), !findings.some(({ severity, nonconforming }) => severity === 'error' || nonconforming === true), JSON.stringify(manifest))
  }
})

t.test('SN2 the files of a skill with three files have schemas of their own', async t => {
  const [tools, allowlist, execution] = ['skill-tools.json', 'skill-allowlist.json', 'skill-execution.json'].map(checkOf)
  const argument = { param: 'path', readPath: true, optional: null, denyPattern: 'x', denyResolveCommand: { script: 'which' } }
  t.ok(tools?.([{ name: 'a', parameters: {}, more: 1 }]))
  t.notOk(tools?.({ tools: [] }))
  t.ok(allowlist?.({ git: ['log', ''] }))
  t.notOk(allowlist?.({ git: 'log' }))
  t.ok(execution?.([{ tool: 'a', binary: 'git', subcommand: 'log', args: [argument, { kind: 'literal', value: '-n' }], successExitCodes: [1] }]))
  for (const fields of [{ args: [{ ...argument, more: 1 }] }, { args: [{ kind: 'other' }] }, { successExitCodes: [256] }, { more: 1 }]) t.notOk(execution?.([{ tool: 'a', binary: 'git', subcommand: 'log', ...fields }]), JSON.stringify(fields))
})
