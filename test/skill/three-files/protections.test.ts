import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createFixture, shownArguments } from '../fixture.ts'
import { argvOf, load } from './fixture.ts'

t.test('SN21 a path to read is passed without links, and one that leads out of the workspace is refused', async t => {
  const fixture = createFixture(t)
  const { workspace } = fixture
  mkdirSync(join(workspace, 'dir'))
  writeFileSync(join(workspace, 'dir/file'), '')
  symlinkSync('dir', join(workspace, 'link'))
  symlinkSync('/etc', join(workspace, 'out'))
  symlinkSync('nowhere', join(workspace, 'dangling'))
  const { call } = await load(t, { args: [{ param: 'path', readPath: true }] }, fixture)
  for (const [path, seen] of [['dir/file', 'dir/file'], ['link/file', 'dir/file'], [join(workspace, 'dir'), 'dir'], ['dir/../dir', 'dir'], ['none/yet', 'none/yet'], ['-x', undefined]] as const) {
    const outcome = await call({ path })
    if (seen === undefined) t.match(outcome, { error: { code: 'NOT_ALLOWED' } }, path)
    else t.same(shownArguments(outcome), [join(workspace, seen)], path)
  }
  for (const path of ['/etc/passwd', '../x', 'out/passwd', 'out', 'dangling', 'dir/../../x', `${workspace}-other`, 'x'.repeat(5000), '~/../../x']) {
    t.match(await call({ path }), { error: { code: 'NOT_ALLOWED', message: /^parameter path must be a path inside the workspace/ } }, path.slice(0, 40))
  }
})

t.test('SN21 each word of a value that is split is a path of its own', async t => {
  const fixture = createFixture(t)
  const { call } = await load(t, { args: [{ param: 'path', readPath: true, split: true }] }, fixture)
  t.same(shownArguments(await call({ path: 'a b/c' })), [join(fixture.workspace, 'a'), join(fixture.workspace, 'b/c')])
  t.match(await call({ path: 'a /etc/passwd' }), { error: { code: 'NOT_ALLOWED' } })
})

t.test('SN22 directories of a path that is written to are made, in the workspace alone', async t => {
  const fixture = createFixture(t)
  fixture.program('show', 'echo x >"$3"')
  const { call } = await load(t, { args: [{ param: 'path', kind: 'flag', writePath: true }] }, fixture)
  t.match(await call({ path: 'new/deep/file' }), { ok: true })
  t.ok(existsSync(join(fixture.workspace, 'new/deep/file')))
  symlinkSync(fixture.base, join(fixture.workspace, 'up'))
  t.match(await call({ path: 'up/new/file' }), { error: { code: 'NOT_ALLOWED' } })
  t.notOk(existsSync(join(fixture.base, 'new')))
})

t.test('SN21 SN22 a skill that may not read, or write, is refused with what allows it', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', { 'tools.json': [{ name: 'probe' }], 'allowlist.json': { show: ['run'] }, 'execution.json': [{ tool: 'probe', binary: 'show', subcommand: 'run', args: [{ param: 'path', writePath: true }] }] })
  writeFileSync(join(fixture.base, 'layer.json'), '{"tools": [{"skill": "one", "permissions": ["read_repo"], "timeoutSec": 7}]}')
  const registry = await fixture.load({}, [fixture.skills, join(fixture.base, 'layer.json')])
  t.match(registry.get('probe')?.tool, { permissions: ['read_repo'], timeoutSec: 7 }, 'what it may do is the operator\'s to say')
  t.match(await fixture.call(registry, 'probe', { path: 'x' }), { error: { code: 'NOT_ALLOWED', message: /the skill may not write: \{"skill": NAME, "permissions": \["write_files"\]\}/ } })
})

t.test('SN12 a program runs in the directory that the call names, and nowhere else than in the workspace', async t => {
  const fixture = createFixture(t)
  fixture.program('show', 'pwd; echo "$#"')
  mkdirSync(join(fixture.workspace, 'repo'))
  writeFileSync(join(fixture.workspace, 'file'), '')
  const { call } = await load(t, { args: [{ param: 'repo', kind: 'workingdir' }] }, fixture)
  t.match(await call({ repo: 'repo' }), { output: `${join(fixture.workspace, 'repo')}\n1\n` })
  t.match(await call({}), { output: `${fixture.workspace}\n1\n` })
  t.match(await call({ repo: 'file' }), { error: { code: 'INVALID_ARGUMENTS', message: /is no directory/ } })
  t.match(await call({ repo: '..' }), { error: { code: 'NOT_ALLOWED' } })
})

t.test('SN23 the value of unsafePath is passed as it is, and told to the operator', async t => {
  const { call, findings } = await load(t, { args: [{ param: 'path', unsafePath: true }] })
  t.same(shownArguments(await call({ path: '/etc/../x' })), ['/etc/../x'])
  t.match(findings.filter(({ rule }) => rule === 'SN23'), [{ severity: 'warning', message: /"path" may name any path/ }])
})

t.test('SN24 a value that is no path of the tool may not look like one that leads elsewhere', async t => {
  const { call } = await load(t, { args: [{ param: 'a', split: true }, { param: 'b', kind: 'flag' }] })
  for (const value of ['/etc/passwd', '~/x', 'file:///etc', 'FILE://x', 'a/../b', '..', 'a\\..\\b', 'fine /etc']) t.match(await call({ a: value }), { error: { code: 'NOT_ALLOWED', message: /^parameter a is / } }, value)
  t.match(await call({ a: 'x', b: '/etc' }), { error: { code: 'NOT_ALLOWED' } })
  for (const value of ['// TODO', 'https://example.com/a', 'a..b', 'src/main.rs', 'HEAD~1']) t.match(await call({ a: value }), { ok: true }, value)
})

t.test('SN25 a value, a resolved value and each word of it may not match denyPattern', async t => {
  const deny = { denyPattern: '^(main|release/.+)$' }
  for (const a of ['main', 'release/1', 'x main']) t.match(await argvOf(t, { args: [{ param: 'a', split: true, ...deny }] }, { a }), { code: 'NOT_ALLOWED', message: /^protected value on param 'a'/ }, a)
  t.same(await argvOf(t, { args: [{ param: 'a', ...deny }] }, { a: 'mainly' }), ['mainly'])
  t.match(await argvOf(t, { args: [{ param: 'a', ...deny, resolveCommand: { script: 'r', args: [] } }], files: { 'scripts/r': 'echo main' } }, { a: 'x' }), { code: 'NOT_ALLOWED' })
  t.match(await argvOf(t, { args: [{ param: 'text', kind: 'stdin', ...deny }] }, { text: 'main' }), { code: 'NOT_ALLOWED' })
  t.match(await argvOf(t, { args: [{ param: 'a', denyPattern: '^\\d+$' }] }, { a: '٣' }), { code: 'NOT_ALLOWED', message: /to be sure of it/ }, 'a digit of another script')
})

t.test('SN25 a pattern that is read otherwise here than by its author makes the tool unavailable', async t => {
  for (const denyPattern of ['a(', '[a&&b]', '[[a]b]', '\\<main', '\\b{start}x', '(?x)a b', '[a--b]', 'a++', '\\Qa\\E', 'x'.repeat(1001), '(a{1,90}){1,90}']) {
    t.match((await load(t, { args: [{ param: 'a', denyPattern }] })).unavailable, /^execution\[0\]: args\[0\]: denyPattern /, denyPattern.slice(0, 20))
  }
  for (const denyPattern of ['^(?i)main$', '[[:alpha:]]', '(?P<x>a)', '\\pL', '[]a]', '[^]a]', '\\bx\\B', '\\x{41}', '[\\]&-]']) {
    t.equal((await load(t, { args: [{ param: 'a', denyPattern }] })).unavailable, undefined, denyPattern)
  }
})

t.test('SN26 where the call has no value, or always, the text of denyResolveCommand is looked at, in the working directory', async t => {
  const fixture = createFixture(t)
  mkdirSync(join(fixture.workspace, 'repo'))
  writeFileSync(join(fixture.workspace, 'repo/branch'), 'main')
  const deny = { denyPattern: '^main$', denyResolveCommand: { script: 'branch', args: ['$workingDir'] } }
  const files = { 'scripts/branch.sh': 'cat "$1/branch" && test "$1" = "$PWD"' }
  const args = [{ param: 'repo', kind: 'workingdir', optional: true, ...deny, denyAlwaysResolve: true }, { param: 'a', optional: true }]
  const { call } = await load(t, { args, files }, fixture)
  t.match(await call({ repo: 'repo' }), { error: { code: 'NOT_ALLOWED', message: /"main" matches deny pattern/ } })
  writeFileSync(join(fixture.workspace, 'repo/branch'), 'topic')
  t.match(await call({ repo: 'repo' }), { ok: true })
  t.match(await call({}), { error: { code: 'TOOL_FAILED' } }, 'a command that fails refuses the call')
  writeFileSync(join(fixture.workspace, 'branch'), ' \n')
  t.match(await call({}), { error: { code: 'NOT_ALLOWED', message: /printed nothing/ } })
  const own = await load(t, { args: [{ param: 'a', optional: true, ...deny }], files })
  writeFileSync(join(own.fixture.workspace, 'branch'), 'main')
  t.match(await own.call({ a: 'other' }), { ok: true }, 'a value of the call is looked at itself')
  t.match(await own.call({}), { error: { code: 'NOT_ALLOWED' } })
})

t.test('SN26 a denyPattern that has nothing to look at makes the tool unavailable', async t => {
  t.match((await load(t, { args: [{ param: 'a', denyPattern: 'x', denyAlwaysResolve: true }] })).unavailable, /has nothing to look at without denyResolveCommand/)
  t.match((await load(t, { args: [{ param: 'a', denyAlwaysResolve: true }] })).unavailable, /protect nothing without denyPattern/)
  t.match((await load(t, { args: [{ param: 'a', denyPattern: 'x', denyResolveCommand: { script: 's' } }], options: { allowScripts: false } })).unavailable, /denyResolveCommand runs the script/)
})
