import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { argvOf, createFixture, shownArguments, toolsFile, type Json, type SkillFiles } from './fixture.ts'

const script = { 'scripts/resolve.sh': 'printf "<%s>\\n" "$1"' }
const allow = { options: { allowScripts: true } }
/** Texts of 30 MB with a value of 100 KB. */
const list = ['$param'.repeat(100), '$param $param'.repeat(100)]
const positional = (resolveCommand: Json, more: Json = {}): Json => ({ param: 'a', resolveCommand, ...more })
const byScript = positional({ script: 'resolve', args: ['$param'] })
/** `show` and `answer`, a program that prints what it is told. */
const withAnswer = (script: string): string => `case "$1" in run) printf '%s\\0' "$@" ;; *) ${script} ;; esac`

t.test('S24 the trimmed stdout of a script is the new value', async t => {
  t.same(await argvOf(t, [byScript], { a: 'x' }, { ...allow, files: script }), ['<x>'])
  t.same(await argvOf(t, [byScript], { a: 'x' }, { ...allow, files: { 'scripts/resolve.sh': 'printf " \\n a b \\t\\n\\n"' } }), ['a b'])
})

t.test('S24 the trimmed stdout of an allowlisted command is the new value', async t => {
  const command = positional({ binary: 'printf', subcommand: '<%s>\\n', args: ['$param'] })
  t.same(await argvOf(t, [command], { a: 'x' }, { change: { allowlist: { show: ['run'], printf: ['<%s>\\n'] } } }), ['<x>'])
})

const failures: Record<string, SkillFiles> = {
  'an exit status': { 'scripts/resolve.sh': 'echo other; exit 3' },
  'a signal': { 'scripts/resolve.sh': 'echo other; kill -9 $$' },
  'an empty stdout': { 'scripts/resolve.sh': 'echo other >&2' },
  'a blank stdout': { 'scripts/resolve.sh': 'printf " \\n\\t"' },
  'a NUL byte on stdout': { 'scripts/resolve.sh': 'printf "x\\0y"' },
  'more than an argument can hold': { 'scripts/resolve.sh': 'head -c 140000 /dev/zero | tr "\\0" x' },
  'a script that is missing': {}
}
for (const [failure, files] of Object.entries(failures)) {
  t.test(`S25 the value is kept after ${failure}`, async t => {
    t.same(await argvOf(t, [byScript], { a: 'x' }, { ...allow, files }), ['x'])
  })
}

t.test('X31 a resolver that fails does not end the call, and the log says why', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', { 'tools.json': toolsFile([byScript]), 'scripts/resolve.sh': 'exit 3' })
  t.match(await fixture.call(await fixture.load({ allowScripts: true }), 'probe', { a: 'secret' }), { ok: true })
  t.same(fixture.logged, ['[parameter a is not resolved: exit status 3]'])
})

t.test('S26 resolveCommand without a script or a complete command is reported and keeps the value', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', { 'tools.json': toolsFile([positional({}), positional({ binary: 'show' }), positional({ script: 'x', subcommand: 'run' })]) })
  const registry = await fixture.load()
  t.match(registry.findings, [0, 1, 2].map(at => ({
    severity: 'warning', rule: 'S26', index: 0, tool: 'probe', message: `tool[0] "probe": args[${at}]: resolveCommand needs a script, or a binary and a subcommand`
  })))
  t.same(shownArguments(await fixture.call(registry, 'probe', { a: 'x' })), ['x', 'x', 'x'])
})

t.test('S27 SC17 a script is a file of scripts/, with .sh or without', async t => {
  t.same(await argvOf(t, [byScript], { a: 'x' }, { ...allow, files: { 'scripts/resolve.sh': 'echo suffixed' } }), ['suffixed'])
  t.same(await argvOf(t, [byScript], { a: 'x' }, { ...allow, files: { 'scripts/resolve': 'echo exact', 'scripts/resolve.sh': 'echo suffixed' } }), ['exact'])
  t.same(await argvOf(t, [positional({ script: 'resolve.sh' })], { a: 'x' }, { ...allow, files: { 'scripts/resolve.sh': 'echo whole' } }), ['whole'])
})

t.test('B13 .sh is appended to a name with a dot, it does not replace what follows the dot', async t => {
  const dotted = positional({ script: 'a.v1' })
  t.same(await argvOf(t, [dotted], { a: 'x' }, { ...allow, files: { 'scripts/a.sh': 'echo wrong' } }), ['x'])
  t.same(await argvOf(t, [dotted], { a: 'x' }, { ...allow, files: { 'scripts/a.sh': 'echo wrong', 'scripts/a.v1.sh': 'echo right' } }), ['right'])
})

t.test('S28 a script needs no place in the allowlist', async t => {
  t.same(await argvOf(t, [byScript], { a: 'x' }, { ...allow, files: script, change: { allowlist: { show: ['run'] } } }), ['<x>'])
})

for (const name of ['../outside', 'a/b', 'a\\b', '..', 'x..y']) {
  t.test(`S29 a script name with .., / or \\ never runs and is reported: ${name}`, async t => {
    const fixture = createFixture(t)
    fixture.skill('one', { 'tools.json': toolsFile([positional({ script: name })]), 'outside.sh': 'echo wrong', 'scripts/a/b': 'echo wrong', 'scripts/a\\b': 'echo wrong', 'scripts/x..y': 'echo wrong' })
    const registry = await fixture.load({ allowScripts: true })
    t.match(registry.findings, [{ severity: 'warning', rule: 'S29', tool: 'probe', fix: 'Name a file in scripts/.' }])
    t.same(shownArguments(await fixture.call(registry, 'probe', { a: 'x' })), ['x'])
  })
}

t.test('S27 a script that is linked out of scripts/ never runs, and is reported', async t => {
  const fixture = createFixture(t)
  const directory = fixture.skill('one', { 'tools.json': toolsFile([positional({ script: 'resolve' })]), 'outside.sh': 'echo wrong', 'scripts/other.sh': 'echo other' })
  symlinkSync(join(directory, 'outside.sh'), join(directory, 'scripts', 'resolve.sh'))
  const registry = await fixture.load({ allowScripts: true })
  t.match(registry.findings, [{ severity: 'warning', rule: 'S27', tool: 'probe', message: 'tool[0] "probe": args[0]: resolveCommand: "resolve" is linked out of scripts/, so it never runs', fix: /^Put the script itself into scripts\// }])
  t.same(shownArguments(await fixture.call(registry, 'probe', { a: 'x' })), ['x'])
})

t.test('S30 S31 a command that the allowlist does not hold never runs and is reported', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', { 'tools.json': toolsFile([positional({ binary: 'echo', subcommand: 'run' }), positional({ binary: 'show', subcommand: 'other' })]) })
  const registry = await fixture.load()
  t.match(registry.findings, [
    { severity: 'warning', rule: 'S30', message: /binary not allowlisted: echo/ },
    { severity: 'warning', rule: 'S31', message: /subcommand not allowlisted: show other/ }
  ])
  t.same(shownArguments(await fixture.call(registry, 'probe', { a: 'x' })), ['x', 'x'])
  t.equal((await fixture.auditLines()).length, 1)
})

t.test('S32 SC16 $param is replaced wherever it stands, and only with the value itself', async t => {
  const twice = positional({ script: 'resolve', args: ['x$paramy$param', '$other'] })
  const files = { 'scripts/resolve.sh': 'printf "%s|" "$@"' }
  t.same(await argvOf(t, [twice], { a: 'V' }, { ...allow, files }), ['xVyV|$other|'])
  t.same(await argvOf(t, [twice], { a: '$&$param' }, { ...allow, files }), ['x$&$paramy$&$param|$other|'])
})

t.test('S33 a script runs as sh SCRIPT ARGUMENTS, whatever its first line and its mode', async t => {
  const fixture = createFixture(t)
  const skill = fixture.skill('one', { 'tools.json': toolsFile([positional({ script: 'resolve', args: ['1', '$param'] })]), 'scripts/resolve.sh': '#!/no/such/program\necho "$0" "$#"' })
  const file = join(skill, 'scripts/resolve.sh')
  t.same(shownArguments(await fixture.call(await fixture.load({ allowScripts: true }), 'probe', { a: 'x' })), [`${file} 2`])
  t.match((await fixture.auditLines())[0], { argv: [/^\/.*\/sh$/, file, '1', 'x'] })
})

t.test('S34 B14 SC20 a script that a symbolic link leads out of scripts/ does not run', async t => {
  for (const link of ['the script', 'a directory', 'scripts/ itself']) {
    const fixture = createFixture(t)
    const skill = fixture.skill('one', { 'tools.json': toolsFile([byScript]), 'other/resolve.sh': 'echo wrong' })
    if (link === 'scripts/ itself') symlinkSync(join(skill, 'other'), join(skill, 'scripts'))
    else mkdirSync(join(skill, 'scripts'))
    if (link === 'the script') symlinkSync('../other/resolve.sh', join(skill, 'scripts/resolve.sh'))
    if (link === 'a directory') symlinkSync('../other', join(skill, 'scripts/resolve'))
    t.same(shownArguments(await fixture.call(await fixture.load({ allowScripts: true }), 'probe', { a: 'x' })), ['x'], link)
  }
})

t.test('S34 a symbolic link inside of scripts/ is followed', async t => {
  const fixture = createFixture(t)
  const skill = fixture.skill('one', { 'tools.json': toolsFile([byScript]), 'scripts/real.sh': 'echo right' })
  symlinkSync('real.sh', join(skill, 'scripts/resolve.sh'))
  t.same(shownArguments(await fixture.call(await fixture.load({ allowScripts: true }), 'probe', { a: 'x' })), ['right'])
})

t.test('S35 scripts do not run by default', async t => {
  t.same(await argvOf(t, [byScript], { a: 'x' }, { files: script }), ['x'])
})

t.test('SC18 the command is used only where scripts are not allowed', async t => {
  const both = positional({ script: 'resolve', binary: 'printf', subcommand: 'command', args: [] })
  const given = { files: { 'scripts/resolve.sh': 'exit 1' }, change: { allowlist: { show: ['run'], printf: ['command'] } } }
  t.same(await argvOf(t, [both], { a: 'x' }, given), ['command'])
  t.same(await argvOf(t, [both], { a: 'x' }, { ...given, ...allow }), ['x'])
})

t.test('SC19 a resolver of a flag runs only when there is a value, and one of flagifboolean never', async t => {
  const fixture = createFixture(t)
  fixture.program('show', withAnswer('echo answer'))
  const resolveCommand = { binary: 'show', subcommand: 'answer' }
  fixture.skill('one', {
    'tools.json': toolsFile([
      { param: 'a', kind: 'flag', resolveCommand },
      { param: 'b', kind: 'flag', resolveCommand },
      { param: 'b', kind: 'flagifboolean', flagIfTrue: '--yes', resolveCommand }
    ], { allowlist: { show: ['run', 'answer'] } })
  })
  const registry = await fixture.load()
  t.match(registry.findings, [{ severity: 'warning', rule: 'SC19', message: 'tool[0] "probe": args[2]: resolveCommand has no effect on flagifboolean' }])
  t.same(shownArguments(await fixture.call(registry, 'probe', { b: true })), ['--b', 'answer', '--yes'])
  t.equal((await fixture.auditLines()).length, 2)
})

t.test('S42 newlines are normalized before the value is resolved', async t => {
  t.same(await argvOf(t, [{ ...byScript, normalizeNewlines: true }], { a: 'x\\ny' }, { ...allow, files: script }), ['<x\ny>'])
})

t.test('S42 no resolver runs when another value is refused', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', { 'tools.json': toolsFile([byScript, { param: 'b' }]), 'scripts/resolve.sh': 'touch ran' })
  t.match(await fixture.call(await fixture.load({ allowScripts: true }), 'probe', { a: 'x' }), { ok: false, error: { code: 'INVALID_ARGUMENTS', message: 'missing parameter: b' } })
  t.same(await fixture.auditLines(), [])
})

t.test('S43 a resolver knows nothing but its arguments and the workspace', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', { 'tools.json': toolsFile([byScript]), 'scripts/resolve.sh': 'pwd; echo "$HOME:$SECRET"; cat' })
  t.same(shownArguments(await fixture.call(await fixture.load({ allowScripts: true }), 'probe', { a: 'x' })), [`${fixture.workspace}\n/home/tester:`])
})

t.test('SC9 a resolved value that starts with - is refused like any other', async t => {
  t.same(await argvOf(t, [byScript], { a: 'x' }, { ...allow, files: { 'scripts/resolve.sh': 'echo --delete' } }), { code: 'NOT_ALLOWED', message: 'parameter a must not start with "-"' })
})

t.test('S24 SC9 a value that may start with - is resolved like any other', async t => {
  const flag = { ...byScript, kind: 'flag' }
  t.same(await argvOf(t, [flag], { a: '-x' }, { ...allow, files: script }), ['--a', '<-x>'])
  t.same(await argvOf(t, [flag], { a: '-x' }, { ...allow, files: { 'scripts/resolve.sh': 'printf "%s" "--$1"' } }), ['--a', '---x'])
  t.same(await argvOf(t, [byScript], { a: -5 }, { ...allow, files: script }), ['<-5>'])
  t.same(await argvOf(t, [{ ...byScript, allowDash: true }], { a: '-x' }, { ...allow, files: script }), ['<-x>'])
})

t.test('SC9 a negative number stays one that may be an argument, whatever its resolver says', async t => {
  t.same(await argvOf(t, [byScript], { a: -5 }, { ...allow, files: { 'scripts/resolve.sh': 'exit 1' } }), ['-5'])
  t.same(await argvOf(t, [byScript], { a: -5 }, { ...allow, files: { 'scripts/resolve.sh': 'echo "$1"' } }), ['-5'])
  t.match(await argvOf(t, [byScript], { a: -5 }, { ...allow, files: { 'scripts/resolve.sh': 'echo --delete' } }), { code: 'NOT_ALLOWED' })
})

t.test('X34 a resolver has a line in the audit of its own', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', { 'tools.json': toolsFile([byScript]), ...script })
  await fixture.call(await fixture.load({ allowScripts: true }), 'probe', { a: 'x' })
  t.match(await fixture.auditLines(), [{ tool: 'probe', job: 'job-1', exit: 0, stdoutBytes: 4 }, { tool: 'probe', job: 'job-1', exit: 0, argv: [join(fixture.bin, 'show'), 'run', '<x>'] }])
})

t.test('a resolver and its tool share the timeout of the call', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', { 'tools.json': toolsFile([byScript]), 'scripts/resolve.sh': 'sleep 60' })
  const outcome = await fixture.call(await fixture.load({ allowScripts: true }), 'probe', { a: 'x' }, { timeoutMs: 200 })
  t.same(outcome, { ok: false, error: { code: 'TOOL_TIMEOUT', message: 'tool timed out', details: { timeout_sec: 0.2 } } })
  t.equal((await fixture.auditLines()).length, 1, 'the tool is not started')
})

t.test('a cancel ends the call while a resolver runs', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', { 'tools.json': toolsFile([byScript]), 'scripts/resolve.sh': 'echo started >&2; sleep 60' })
  const stop = new AbortController()
  const outcome = await fixture.call(await fixture.load({ allowScripts: true }), 'probe', { a: 'x' }, { signal: stop.signal, log: () => { stop.abort() } })
  t.match(outcome, { ok: false, error: { code: 'JOB_CANCELLED' } })
})

t.test('S27 a directory with the name of a script is not run', async t => {
  const fixture = createFixture(t)
  const skill = fixture.skill('one', { 'tools.json': toolsFile([byScript]) })
  mkdirSync(join(skill, 'scripts/resolve'), { recursive: true })
  writeFileSync(join(skill, 'scripts/resolve.sh'), 'echo right')
  t.same(shownArguments(await fixture.call(await fixture.load({ allowScripts: true }), 'probe', { a: 'x' })), ['right'])
})

t.test('S25 the value is kept where the arguments of a resolver would be longer than any program takes', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', { 'tools.json': toolsFile([positional({ script: 'resolve', args: list })]), ...script })
  const outcome = await fixture.call(await fixture.load(allow.options), 'probe', { a: 'x'.repeat(100_000) })
  t.notMatch(outcome, { error: { code: 'INTERNAL' } })
  t.match(fixture.logged.join('\n'), /parameter a is not resolved: its arguments would be longer than any program takes/)
})
