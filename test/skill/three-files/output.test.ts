import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createFixture } from '../fixture.ts'
import { load, type Changes } from './fixture.ts'

/** Runs a program with this body, and returns the output or the error. */
async function output (t: Parameters<typeof load>[0], body: string, changes: Changes = {}, args = {}): Promise<unknown> {
  const fixture = createFixture(t)
  fixture.program('show', body)
  const { call, unavailable } = await load(t, changes, fixture)
  if (unavailable !== undefined) return unavailable
  const outcome = await call(args)
  return outcome.ok ? outcome.output : outcome.error
}

t.test('SN27 exit codes of successExitCodes are a success, others fail and are not shaped', async t => {
  const execution = { successExitCodes: [1], hintConditions: [{ exitCode: 'nonzero', hint: 'nothing found' }] }
  t.equal(await output(t, 'exit 1', { execution }), 'hint: nothing found')
  t.equal(await output(t, 'echo x', { execution }), 'x\n')
  t.match(await output(t, 'echo bad >&2; exit 2', { execution }), { code: 'TOOL_FAILED', message: 'bad' })
})

t.test('SN28 what a program says on stderr stands behind its output', async t => {
  t.equal(await output(t, 'printf out; echo warning >&2'), 'out\nwarning\n')
  t.equal(await output(t, 'echo out; echo warning >&2'), 'out\nwarning\n')
  t.equal(await output(t, 'echo warning >&2'), 'warning\n')
})

t.test('SN29 postProcess gets the output on stdin, and the exit code; whatever goes wrong keeps the output', async t => {
  const changes = (script: string, more = {}): Changes => ({
    args: [{ param: 'b', absentDefault: 'default' }], execution: { successExitCodes: [4], postProcess: { script: 'shape', args: ['$b'], ...more } }, files: { 'scripts/shape.sh': script }
  })
  t.equal(await output(t, 'echo out; echo err >&2; exit 4', changes('tr a-z A-Z; echo "$1 $CHAI_EXIT_CODE"')), 'OUT\nERR\ndefault 4\n')
  t.equal(await output(t, 'echo out', changes('echo x; exit 1')), 'out\n')
  t.equal(await output(t, 'echo out', changes('cat >/dev/null')), 'out\n')
  t.equal(await output(t, 'echo out', changes('cat >/dev/null', { emptyIsResult: true })), '')
  t.equal(await output(t, 'echo out', { execution: { postProcess: { binary: 'tr', subcommand: 'o 0', args: [] } }, allowlist: { tr: ['o 0'] } }), '0ut\n')
  const off = changes('echo never')
  t.equal(await output(t, 'echo out', { ...off, options: { allowScripts: false } }), 'out\n', 'without scripts outputs stay as they are')
})

t.test('SN30 every hint all of whose conditions hold is added, with values of the call', async t => {
  const hintConditions = [
    { match: 'CONFLICT', hint: 'resolve {a} {{now}}{none}' }, { match: 'conflict', hint: 'never' }, { whenArg: { a: true }, hint: 'a switch' },
    { whenArg: { a: 'true' }, hint: 'as a text' }, { exitCode: 0, notEmpty: true, hint: 'both' }, { exitCode: 1, notEmpty: true, hint: 'not both' }, { hint: 'no condition' }
  ]
  t.equal(await output(t, 'echo CONFLICT', { execution: { hintConditions } }, { a: true }), 'CONFLICT\n\nhint: resolve true {now}\n\nhint: a switch\n\nhint: as a text\n\nhint: both')
  t.equal(await output(t, 'echo x', { args: [{ param: 'a', kind: 'flag', absentDefault: 'HEAD' }], execution: { hintConditions: [{ whenArg: { a: 'HEAD' }, hint: 'at {a}' }] } }), 'x\n\nhint: at HEAD', 'defaults count')
})

t.test('SN30 a hint shows no more than the beginning of a value', async t => {
  const text = await output(t, 'echo x', { execution: { hintConditions: [{ exitCode: 0, hint: '<{a}>' }] } }, { a: 'v'.repeat(100_000) })
  t.equal(text, `x\n\nhint: <${'v'.repeat(1_000)}>`)
})

t.test('SN31 an output of more lines is cut, with a notice, and hints stay', async t => {
  const lines = 'for n in 1 2 3 4 5; do echo "line $n"; done; echo "hint: own"'
  t.equal(await output(t, lines, { execution: { maxOutputLines: 2 } }), 'line 1\nline 2\n\nhint: own\n\n[output truncated: 2 of 6 lines shown; 3 lines omitted. Narrow your query path, pattern, or range to reduce results.]')
  t.equal(await output(t, lines, { execution: { maxOutputLines: 6 } }), 'line 1\nline 2\nline 3\nline 4\nline 5\nhint: own\n')
  const truncationHint = '{kept}/{total}, {omitted} left, go on at {next_start}'
  t.match(await output(t, lines, { execution: { maxOutputLines: 2, truncationHint } }), /\[2\/6, 3 left, go on at 3\]$/)
  t.match(await output(t, 'printf "41\\ta\\n42\\tb\\n43\\tc\\n"', { execution: { maxOutputLines: 2, truncationHint } }), /go on at 43\]$/, 'numbered lines say where')
})

t.test('SN32 a file beside a path is added, once for each session where that is asked for', async t => {
  const fixture = createFixture(t)
  fixture.program('show', 'echo out')
  mkdirSync(join(fixture.workspace, 'dir'))
  writeFileSync(join(fixture.workspace, 'dir/AGENTS.md'), 'Be kind.\n\n')
  const changes = { args: [{ param: 'path', readPath: true }], execution: { sideRead: { pathParam: 'path', filename: 'AGENTS.md', label: 'Rules', oncePerSession: true }, maxOutputLines: 1 } }
  const { call } = await load(t, changes, fixture)
  const shown = 'out\n\n--- Rules (BOF) ---\n\nBe kind.\n\n--- Rules (EOF) ---'
  t.match(await call({ path: 'dir' }), { output: shown })
  const session = { id: 's1', dir: fixture.workspace }
  t.match(await call({ path: 'dir' }, { session }), { output: shown })
  t.match(await call({ path: './dir/' }, { session }), { output: 'out\n' }, 'the same directory')
  t.match(await call({ path: 'dir' }, { session: { ...session, id: 's2' } }), { output: shown })
  t.match(await call({ path: '.' }), { output: 'out\n' }, 'one that is not there is passed over')
})

t.test('SN32 a sideRead whose path is not looked at makes the tool unavailable', async t => {
  t.match((await load(t, { args: [{ param: 'path' }], execution: { sideRead: { pathParam: 'path', filename: 'x' } } })).unavailable, /is a path that is looked at/)
  t.match((await load(t, { args: [{ param: 'path', readPath: true }], execution: { sideRead: { pathParam: 'path', filename: '../x' } } })).unavailable, /sideRead\.filename/)
})

t.test('SN33 a wrapper stands in front of the program, and must be a program that the skill names', async t => {
  const fixture = createFixture(t)
  fixture.program('wrap', 'shift; exec "$@"')
  const files = { 'SKILL.md': '---\ndescription: x\nmetadata: {requires: {bins: [wrap]}}\n---\n' }
  const { call } = await load(t, { execution: { binaryWrapper: ['wrap', '--in'] }, args: [{ param: 'a' }], files }, fixture)
  t.match(await call({ a: 'x' }), { output: 'run\0x\0' })
  t.match((await load(t, { execution: { binaryWrapper: ['wrap'] } })).unavailable, /neither in allowlist\.json nor in metadata\.requires\.bins/)
  t.match((await load(t, { execution: { binaryWrapper: ['/bin/sh', '-c'] }, allowlist: { '/bin/sh': ['x'] } })).unavailable, /would read the arguments as a command line/)
})

t.test('SN35 the arguments of a call choose one of several executions', async t => {
  const one = (name: string, more = {}) => ({ tool: 'probe', binary: 'show', subcommand: 'run', args: [{ kind: 'literal', value: name }], ...more })
  const executions = [one('both', { paramCondition: { present: ['a', 'b'] } }), one('c', { paramCondition: { present: ['c'], absent: ['b'] } })]
  const { call } = await load(t, { executions })
  t.match(await call({ a: 1, b: 2 }), { output: 'run\0both\0' })
  t.match(await call({ c: 1, a: null }), { output: 'run\0c\0' })
  t.match(await call({ a: 1 }), { error: { code: 'INVALID_ARGUMENTS', message: 'these arguments choose no way of running the tool: parameter(s) \'b\' must be provided together with \'a\'' } })
  t.match(await (await load(t, { executions: [...executions, one('usual')] })).call({ a: 1 }), { output: 'run\0usual\0' })
  t.match(await (await load(t, { executions: [one('x', { paramCondition: { present: ['a'] } }), one('y', { paramCondition: { present: ['b'] } })] })).call({ a: 1, b: 1 }), { error: { message: 'these arguments choose more than one way of running the tool' } })
  t.match(await (await load(t, { executions: [one('only', { paramCondition: { present: ['a'] } })] })).call({}), { output: 'run\0only\0' }, 'the only one runs in any case')
  t.match((await load(t, { executions: [one('x'), one('y')] })).unavailable, /more than one execution without paramCondition/)
})
