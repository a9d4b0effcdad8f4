import { join } from 'node:path'
import t, { type Test } from 'tap'
import { validateManifests, type ExecuteParameter } from '@toolyard/manifests'
import { descriptor, manifestOf, project } from './project.ts'

const kind = 'POSITIONAL_OR_KEYWORD'

/** Said where `execute` takes these parameters. */
async function told (t: Test, inputs: object, parameters: readonly ExecuteParameter[]): Promise<string[]> {
  const file = join(project(t, { 'a.json': manifestOf(descriptor({ inputs })) }), 'a.json')
  const { ok, findings } = await validateManifests([file], {
    tryImports: async tools => ({ faults: [], signatures: tools.map(tool => ({ tool, parameters })) })
  })
  t.ok(ok)
  return findings.map(({ severity, rule, line, message }) => `${line} ${severity} ${rule} ${message}`)
}

t.test('P20 a parameter of execute without a default that is not required is a warning', async t => {
  const parameters: ExecuteParameter[] = [{ name: 'path', kind, optional: false }, { name: 'depth', kind: 'KEYWORD_ONLY', optional: false }]
  t.strictSame(await told(t, { path: { type: 'string' }, depth: { type: 'integer', required: false } }, parameters), ['path', 'depth'].map(name =>
    `1 warning P20 tools[0].inputs.${name} is not required, but execute takes it without a default: a call without it fails`))
  t.strictSame(await told(t, { path: { type: 'string', required: true }, depth: { type: 'integer', default: 2 } }, parameters), [], 'a default is passed')
  t.strictSame(await told(t, { path: { type: 'string' }, depth: { type: 'integer' } }, parameters.map(each => ({ ...each, optional: true }))), [])
})

t.test('P20 a parameter that is not declared, and an input that execute does not take, are warnings', async t => {
  t.strictSame(await told(t, {}, [{ name: 'path', kind, optional: false }, { name: 'more', kind, optional: true }]), [
    '1 warning P20 tools[0].inputs.path is not declared, but execute takes it without a default: a model does not know of it'
  ])
  t.strictSame(await told(t, { path: { type: 'string' } }, [{ name: 'args', kind: 'VAR_POSITIONAL', optional: false }]), ['1 warning P20 tools[0].inputs.path is not taken by execute: a call with it fails'])
  t.strictSame(await told(t, { path: { type: 'string' } }, [{ name: 'others', kind: 'VAR_KEYWORD', optional: false }]), [])
  t.match(await told(t, {}, [{ name: 'path', kind: 'POSITIONAL_ONLY', optional: false }]), [/^1 warning P20 .*never reaches execute/])
})

t.test('PC15 a class without an execute of its own is a warning', async t => {
  t.strictSame(await told(t, { path: { type: 'string' } }, [{ name: 'execute', kind: 'INHERITED', optional: false }]), [
    '1 warning PC15 tools[0] has a class without a method execute: every call fails'
  ])
})

t.test('P20 of many wrong parameters the first twenty are reported', async t => {
  t.equal((await told(t, {}, Array.from({ length: 30 }, (_, at): ExecuteParameter => ({ name: `p${at}`, kind, optional: false })))).length, 20)
})
