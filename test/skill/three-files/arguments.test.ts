import t from 'tap'
import { createFixture } from '../fixture.ts'
import { argvOf, load } from './fixture.ts'

t.test('SN8 a positional value is one argument, and a required one that is missing refuses the call', async t => {
  t.same(await argvOf(t, { args: [{ param: 'a' }] }, { a: 'two words' }), ['two words'])
  t.same(await argvOf(t, { args: [{ param: 'a' }] }, { a: 7.5 }), ['7.5'])
  t.match(await argvOf(t, { args: [{ param: 'a' }] }), { code: 'INVALID_ARGUMENTS', message: 'missing parameter: a' })
  t.match(await argvOf(t, { args: [{ param: 'a' }] }, { a: [1] }), { code: 'INVALID_ARGUMENTS', message: 'parameter a must be a string, number, or boolean' })
})

t.test('SN9 a flag of one letter gets one dash, a longer one two, whatever dashes are written', async t => {
  const args = [{ param: 'a', kind: 'flag', flag: 'n' }, { param: 'b', kind: 'flag', flag: '-p' }, { param: 'c', kind: 'flag', flag: '-name' }, { param: 'text', kind: 'flag' }]
  t.same(await argvOf(t, { args }, { a: 1, b: 2, c: 3, text: '-4' }), ['-n', '1', '-p', '2', '--name', '3', '--text', '-4'])
  t.same(await argvOf(t, { args }, { c: 'x' }), ['--name', 'x'], 'one without a value is left out')
})

t.test('SN10 a switch passes one of two flags, and counts as off when the call leaves it out', async t => {
  const args = [{ param: 'a', kind: 'flagifboolean', flagIfTrue: '--on', flagIfFalse: '--off' }]
  t.same(await argvOf(t, { args }, { a: true }), ['--on'])
  t.same(await argvOf(t, { args }), ['--off'])
  t.same(await argvOf(t, { args: [{ ...args[0], absentDefault: true }] }), ['--on'])
})

t.test('SN11 the value of the kind stdin goes to stdin and not to the command line', async t => {
  const fixture = createFixture(t)
  fixture.program('show', 'cat; echo "$#"')
  const { call } = await load(t, { args: [{ param: 'text', kind: 'stdin' }] }, fixture)
  t.match(await call({ text: '-first\nsecond\n' }), { output: '-first\nsecond\n1\n' })
  t.match(await call({}), { ok: false, error: { message: 'missing parameter: text' } })
})

t.test('SN11 SN12 a second argument of the kind stdin or workingdir makes the tool unavailable', async t => {
  for (const kind of ['stdin', 'workingdir']) {
    const { unavailable } = await load(t, { args: [{ param: 'a', kind }, { param: 'b', kind }] })
    t.equal(unavailable, `execution[0]: more than one argument has the kind ${kind}`)
  }
})

t.test('SN13 the value of the kind tempfile is in a file, byte for byte, that is gone after the call', async t => {
  const fixture = createFixture(t)
  fixture.program('show', 'echo "$2"; cat "$3"; echo "$3" >seen')
  const { call } = await load(t, { args: [{ param: 'text', kind: 'tempfile', flag: 'o' }] }, fixture)
  const outcome = await call({ text: 'ä\n\n-x' })
  t.match(outcome, { output: '-o\nä\n\n-x' })
  t.match(await fixture.call(await fixture.load({ allowScripts: true }), 'probe', {}), { ok: false, error: { message: 'missing parameter: text' } })
})

t.test('SN14 a literal stands in its place, and one without a value makes the tool unavailable', async t => {
  t.same(await argvOf(t, { args: [{ param: 'a' }, { kind: 'literal', value: '--continue' }] }, { a: 'x' }), ['x', '--continue'])
  t.equal((await load(t, { args: [{ kind: 'literal' }] })).unavailable, 'execution[0]: args[0]: a literal has no value')
})

t.test('SN15 an optional value is left out; its resolver, if it has one, is asked with an empty text', async t => {
  t.same(await argvOf(t, { args: [{ param: 'a', optional: true }, { param: 'b' }] }, { b: 'x' }), ['x'])
  t.same(await argvOf(t, { args: [{ param: 'a', optional: true }] }, { a: null }), [])
  const resolveCommand = { script: 'default', args: ['$param'] }
  const files = { 'scripts/default.sh': 'test -z "$1" && echo found' }
  t.same(await argvOf(t, { args: [{ param: 'a', optional: true, resolveCommand }], files }), ['found'])
  t.same(await argvOf(t, { args: [{ param: 'a', kind: 'flag', optional: true, resolveCommand }], files: { 'scripts/default.sh': 'true' } }), [], 'a flag for which it finds nothing is left out')
})

t.test('SN16 a value that is split is an argument for each word, none of which becomes an option', async t => {
  const args = [{ param: 'a', split: true }]
  t.same(await argvOf(t, { args }, { a: ' one  two\nthree ' }), ['one', 'two', 'three'])
  t.match(await argvOf(t, { args }, { a: 'one --force' }), { code: 'NOT_ALLOWED', message: 'parameter a must not have words that start with "-"' })
  t.same(await argvOf(t, { args: [{ ...args[0], allowDash: true }] }, { a: 'one -x' }), ['one', '-x'])
  t.match(await argvOf(t, { args: [{ ...args[0], resolveCommand: { script: 'dash', args: [] } }], files: { 'scripts/dash.sh': 'echo "a -x"' } }, { a: 'one' }), { code: 'NOT_ALLOWED' }, 'nor does what a resolver prints')
})

t.test('SN16 a value of more than 1,000 words is refused', async t => {
  const { call } = await load(t, { args: [{ param: 'a', split: true }] })
  t.match(await call({ a: 'x '.repeat(1_000) }), { ok: true })
  t.match(await call({ a: 'x '.repeat(1_001) }), { error: { code: 'INVALID_ARGUMENTS', message: 'parameter a must not have more than 1000 words' } })
})

t.test('SN17 a value that could be taken for another one has -- in front when one before it was left out', async t => {
  const args = [{ param: 'a', optional: true }, { param: 'b', optional: true }, { param: 'c', disambiguateAfterSkippedPositionals: true }]
  t.same(await argvOf(t, { args }, { c: 'x' }), ['--', 'x'])
  t.same(await argvOf(t, { args }, { b: 'y', c: 'x' }), ['y', '--', 'x'])
  t.same(await argvOf(t, { args }, { a: 'z', b: 'y', c: 'x' }), ['z', 'y', 'x'])
})

t.test('SN18 the value of absentDefault is taken where the call has none, and may be an option', async t => {
  const args = [{ param: 'a', kind: 'flag', flag: 'n', absentDefault: 10 }, { param: 'b', absentDefault: '-v' }]
  t.same(await argvOf(t, { args }), ['-n', '10', '-v'])
  t.same(await argvOf(t, { args }, { a: 2, b: 'x' }), ['-n', '2', 'x'])
})

t.test('SN19 a switch changes the subcommand, which must be in the allowlist', async t => {
  const changes = { args: [{ param: 'a', kind: 'flagifboolean', subcommandOverride: 'other thing', flagIfTrue: '--no' }, { param: 'b' }], allowlist: { show: ['run', 'other thing'] } }
  t.same(await argvOf(t, changes, { a: true, b: 'x' }), ['thing', 'x'])
  t.same(await argvOf(t, changes, { b: 'x' }), ['x'])
  t.equal((await load(t, { ...changes, allowlist: { show: ['run'] } })).unavailable, 'execution[0]: subcommand not allowlisted: show other thing')
})

t.test('SN20 a resolver that fails refuses the call, one that prints nothing keeps the value', async t => {
  const args = [{ param: 'a', resolveCommand: { script: 'find', args: ['$param', '$b', '$none', 'x$param'] } }]
  const resolved = async (script: string): Promise<unknown> => await argvOf(t, { args, files: { 'scripts/find': script } }, { a: 'v', b: 'w' })
  t.same(await resolved('printf "%s," "$@"'), ['v,w,,x$param,'], '$ stands for a value as a whole element alone')
  t.same(await resolved('true'), ['v'])
  t.match(await resolved('echo "not here" >&2; exit 3'), { code: 'TOOL_FAILED', message: 'parameter a can\'t be resolved: not here' })
  t.match(await resolved('kill -9 $$'), { code: 'TOOL_FAILED', message: /signal: SIGKILL$/ })
  t.match(await argvOf(t, { args }, { a: 'v' }), { code: 'TOOL_FAILED', message: /scripts\/ has no "find"/ })
})

t.test('SN38 a value that depends on a script makes the tool unavailable where scripts do not run', async t => {
  const { unavailable } = await load(t, { args: [{ param: 'a', resolveCommand: { script: 'find' } }], options: { allowScripts: false } })
  t.equal(unavailable, 'execution[0]: args[0]: resolveCommand runs the script "find", and scripts of skills do not run here')
  t.match((await load(t, { args: [{ param: 'a', resolveCommand: { script: '../find' } }] })).unavailable, /must not contain/)
})

t.test('SN40 normalizeNewlines changes nothing, and is told', async t => {
  const { call, findings } = await load(t, { args: [{ param: 'a', normalizeNewlines: true }] })
  t.match(await call({ a: 'x\\n' }), { output: 'run\0x\\n\0' })
  t.match(findings.filter(({ rule }) => rule === 'SN40'), [{ severity: 'warning' }])
})
