import { mkdirSync, realpathSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { createFixture, shownArguments } from '../fixture.ts'
import { load, threeFiles } from './fixture.ts'

/** Words and what lies between them, as callers could send them. */
const word = fc.oneof(fc.constantFrom('-', '--', '-x', '--force', 'a', 'b c', '..', '/', '~', 'file://x', ' ', '\t', '\n', 'ä', '\u00a0'), fc.string({ maxLength: 6, unit: 'grapheme' }))
const value = fc.array(word, { maxLength: 6 }).map(words => words.join('')).filter(text => !text.includes('\0'))

t.test('SN16 SN24 whatever a caller sends, no word of a split value is an option or a path to elsewhere', async t => {
  const { call } = await load(t, { args: [{ param: 'a', split: true }] })
  await fc.assert(fc.asyncProperty(value, async text => {
    const outcome = await call({ a: text })
    if (!outcome.ok) return outcome.error.code === 'NOT_ALLOWED'
    const words = shownArguments(outcome)
    return words.join(' ') === text.split(/\s+/).filter(each => each !== '').join(' ') &&
      words.every(each => !each.startsWith('-') && !/^\/(?!\/)/.test(each) && !each.startsWith('~') && !each.split(/[/\\]/).includes('..'))
  }), { numRuns: 100 })
  t.pass()
})

t.test('SN21 whatever path a caller sends, what is passed is inside the workspace and has no link in it', async t => {
  const fixture = createFixture(t)
  mkdirSync(join(fixture.workspace, 'dir/deep'), { recursive: true })
  symlinkSync('/', join(fixture.workspace, 'root'))
  symlinkSync('..', join(fixture.workspace, 'dir/up'))
  symlinkSync('../..', join(fixture.workspace, 'dir/out'))
  symlinkSync('self', join(fixture.workspace, 'self'))
  const { call } = await load(t, { args: [{ param: 'path', readPath: true }] }, fixture)
  const step = fc.constantFrom('dir', 'deep', 'up', 'out', 'root', 'self', '..', '.', '', 'new', 'etc', fixture.workspace.slice(1))
  const path = fc.tuple(fc.boolean(), fc.array(step, { minLength: 1, maxLength: 7 })).map(([absolute, steps]) => `${absolute ? `${fixture.workspace}/` : ''}${steps.join('/')}`)
  await fc.assert(fc.asyncProperty(path, async text => {
    const outcome = await call({ path: text })
    if (!outcome.ok) return outcome.error.code === 'NOT_ALLOWED'
    const [seen = ''] = shownArguments(outcome)
    if (seen === '' && text === '') return true
    const existing = (at: string): string => { try { return realpathSync(at) } catch { return existing(join(at, '..')) } }
    return (seen === fixture.workspace || seen.startsWith(`${fixture.workspace}/`)) && seen.startsWith(existing(seen))
  }), { numRuns: 150 })
  t.pass()
})

t.test('SN2 SN4 whatever stands in the three files, each tool is served with what was read, says why it is not, or is told', async t => {
  const fixture = createFixture(t)
  const scalar = fc.constantFrom<unknown>(null, true, 0, -1, 'a', 'show', 'run', '-x', '', [], {}, ['run'], 'stdin', 'literal', 'flag', '(', 'x+')
  const argument = fc.dictionary(fc.constantFrom('param', 'kind', 'value', 'flag', 'optional', 'split', 'readPath', 'writePath', 'denyPattern', 'resolveCommand', 'absentDefault', 'unknown'), scalar)
  const execution = fc.record({
    tool: fc.constantFrom('probe', 'other'),
    binary: fc.constantFrom('show', 'none', 7),
    subcommand: fc.constantFrom('run', ''),
    args: fc.oneof(scalar, fc.array(fc.oneof(argument, scalar), { maxLength: 3 })),
    condition: scalar,
    sideRead: scalar,
    successExitCodes: scalar,
    extra: scalar
  }, { requiredKeys: ['tool', 'binary'] })
  const files = fc.record({
    tools: fc.array(fc.oneof(fc.record({ name: fc.constantFrom('probe', 'other'), parameters: scalar }, { requiredKeys: ['name'] }), scalar), { maxLength: 2 }),
    allowlist: fc.oneof(fc.dictionary(fc.constantFrom('show', '__proto__'), scalar), scalar),
    execution: fc.oneof(fc.array(fc.oneof(execution, scalar), { maxLength: 3 }), scalar)
  })
  await fc.assert(fc.asyncProperty(files, async ({ tools, allowlist, execution }) => {
    fixture.skill('one', { 'tools.json': JSON.stringify(tools), 'allowlist.json': JSON.stringify(allowlist), 'execution.json': JSON.stringify(execution) })
    const registry = await fixture.load({ allowScripts: true })
    for (const { tool } of registry.all()) {
      if (tool.run.kind !== 'skill-command') return false
      const isServed = tool.unavailable === undefined
      if (isServed !== (tool.run.executions.length > 0)) return false
      if (!isServed && !registry.findings.some(({ severity, tool: name }) => severity === 'error' && name === tool.name)) return false
    }
    return true
  }), { numRuns: 150 })
  t.pass()
})

t.test('SN4 whatever fields an argument has, its tool holds to each protection, or is not served', async t => {
  const fixture = createFixture(t)
  const flag = fc.constantFrom<unknown>(true, false, null)
  const helper = fc.constantFrom<unknown>(null, { script: 's' }, { binary: 'show', subcommand: 'run' }, { binary: 'show', subcommand: 'none' }, {})
  const argument = fc.record({
    kind: fc.constantFrom('positional', 'flag', 'flagifboolean', 'stdin', 'workingdir', 'tempfile', 'literal'),
    value: fc.constantFrom(null, 'x'),
    split: flag,
    readPath: flag,
    writePath: flag,
    unsafePath: flag,
    optional: flag,
    denyAlwaysResolve: flag,
    denyPattern: fc.constantFrom(null, '^main$', '(', '\\<x'),
    resolveCommand: helper,
    denyResolveCommand: helper
  }, { requiredKeys: [] })
  await fc.assert(fc.asyncProperty(argument, fc.boolean(), async (fields, allowScripts) => {
    fixture.skill('one', threeFiles({ args: [{ param: 'a', ...fields }] }))
    const tool = (await fixture.load({ allowScripts })).get('probe')?.tool
    if (tool?.run.kind !== 'skill-command') return false
    if (tool.unavailable !== undefined) return true
    const arg = JSON.stringify(tool.run.executions[0]?.args[0])
    const needs: Array<[is: boolean, text: string]> = [
      [fields.writePath === true, '"path":"write"'], [fields.writePath !== true && (fields.readPath === true || fields.kind === 'workingdir'), '"path":"read"'],
      [fields.denyPattern != null, '"deny":{"pattern":'], [fields.denyAlwaysResolve === true, '"always":true'], [fields.resolveCommand != null, '"resolver":'], [fields.split === true, '"split":true']
    ]
    const usesScript = [fields.resolveCommand, fields.denyPattern == null ? null : fields.denyResolveCommand].some(each => JSON.stringify(each)?.includes('script') === true)
    return needs.every(([is, text]) => !is || arg.includes(text)) && (allowScripts || !usesScript)
  }), { numRuns: 150 })
  t.pass()
})
