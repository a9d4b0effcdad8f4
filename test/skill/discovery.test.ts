import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadRegistry, validateManifests, type Registry } from '@toolyard/manifests'
import { createFixture, names, told, type Json } from './fixture.ts'

const skillNames = (registry: Registry): string[] => registry.skills().map(({ name }) => name)
const skillMd = (yaml: string, body = '# Text\n'): string => `---\n${yaml}\n---\n${body}`
const named = (...tools: string[]): Json => ({
  tools: tools.map(name => ({ name })), allowlist: { show: ['run'] }, execution: tools.map(tool => ({ tool, binary: 'show', subcommand: 'run' }))
})

t.test('SC21 B18 the skills of a directory are its subdirectories with a SKILL.md, hidden ones too, by path', async t => {
  const fixture = createFixture(t)
  for (const name of ['zeta', 'alpha', '.hidden', 'Beta']) fixture.skill(name)
  fixture.skill('bare', { 'SKILL.md': undefined })
  writeFileSync(join(fixture.skills, 'README.md'), 'not a skill')
  const registry = await fixture.load()
  t.same(registry.findings, [])
  t.same(skillNames(registry), ['.hidden', 'Beta', 'alpha', 'zeta'])
})

t.test('SC21 a manifest path may be one skill', async t => {
  const fixture = createFixture(t)
  t.same(skillNames(await fixture.load({}, [fixture.skill('one')])), ['one'])
})

t.test('SC21 a directory without skills is reported, and the others serve', async t => {
  const fixture = createFixture(t)
  mkdirSync(join(fixture.base, 'empty'))
  fixture.skill('one')
  const registry = await fixture.load({}, [join(fixture.base, 'empty'), join(fixture.base, 'missing'), fixture.skills])
  t.equal(registry.findings.length, 2)
  t.same(skillNames(registry), ['one'])
})

t.test('SC21 a later skill replaces one of the same name as a whole, also when it has no tools', async t => {
  const fixture = createFixture(t)
  const first = fixture.skill('a', { 'SKILL.md': skillMd('name: notes'), 'tools.json': named('search', 'create') })
  const second = fixture.skill('b', { 'SKILL.md': skillMd('name: notes', 'new\n') })
  for (const manifests of [[fixture.skills], [first, second]]) {
    const registry = await fixture.load({}, manifests)
    t.same(names(registry), [])
    t.match(registry.skills(), [{ name: 'notes', text: 'new\n' }])
    t.same(told(registry.findings), [`warning SC21 skill "notes" is replaced by the one of ${join(second, 'SKILL.md')}`])
  }
  t.same(names(await fixture.load({}, [second, first])), ['search', 'create'])
})

t.test('X16 a later skill that is broken replaces nothing', async t => {
  const fixture = createFixture(t)
  const first = fixture.skill('a', { 'SKILL.md': skillMd('name: notes'), 'tools.json': named('search') })
  const second = fixture.skill('b', { 'SKILL.md': skillMd('name: notes'), 'tools.json': '{' })
  const registry = await fixture.load({}, [first, second])
  t.same(names(registry), ['search'])
  t.match(registry.findings, [{ severity: 'error', rule: 'S38', file: join(second, 'tools.json') }])
})

t.test('SC26 B18 X13 of two tools of one name the later always wins, and it is reported', async t => {
  const fixture = createFixture(t)
  fixture.skill('notes', { 'tools.json': named('search', 'print') })
  const later = fixture.skill('notes-daily', { 'tools.json': named('search') })
  for (let time = 0; time < 3; time++) {
    const registry = await fixture.load()
    t.same(names(registry), ['search', 'print'])
    t.match(registry.get('search')?.tool.source, { file: join(later, 'tools.json') })
    t.match(registry.findings, [{ severity: 'warning', rule: 'X13', tool: 'search', file: join(later, 'tools.json') }])
  }
})

t.test('X13 a tool of a skill does not replace a built-in one', async t => {
  const fixture = createFixture(t)
  fixture.skill('one', { 'tools.json': named('data_file_read') })
  const registry = await loadRegistry({ manifests: [fixture.skills], skills: { path: fixture.bin } })
  t.match(registry.get('data_file_read')?.tool.run, { kind: 'builtin' })
  t.match(registry.findings, [{ severity: 'error', rule: 'X13' }])
})

t.test('SC22 the name is that of the front matter, else that of the directory', async t => {
  const fixture = createFixture(t)
  fixture.skill('a', { 'SKILL.md': skillMd('name: notes\ndescription: "Search: notes"\nlicense: MIT') })
  fixture.skill('b', { 'SKILL.md': skillMd('description:') })
  fixture.skill('c', { 'SKILL.md': skillMd('') })
  fixture.skill('d')
  const registry = await fixture.load()
  t.same(registry.skills().map(({ name, description }) => [name, description]), [['notes', 'Search: notes'], ['b', ''], ['c', ''], ['d', '']])
})

t.test('SC22 a skill that needs a program that is not on the PATH is skipped and reported', async t => {
  const fixture = createFixture(t)
  writeFileSync(join(fixture.bin, 'plain'), '')
  fixture.skill('a', { 'SKILL.md': skillMd('metadata: {requires: {bins: [show, plain, other-program, no-such-program]}}'), 'tools.json': named('search') })
  fixture.skill('b', { 'SKILL.md': skillMd(`metadata:\n  requires:\n    bins: [show, plain, ${join(fixture.bin, 'show')}, ./own]`) })
  writeFileSync(join(fixture.skills, 'b/own'), '', { mode: 0o755 })
  const registry = await fixture.load()
  t.same(skillNames(registry), ['b'])
  t.same(names(registry), [])
  t.match(registry.findings, [{ severity: 'warning', rule: 'SC22', file: join(fixture.skills, 'a/SKILL.md'), message: 'skill "a" is skipped: it needs other-program, no-such-program' }])
})

t.test('B15 the front matter ends at the second line that is only ---', async t => {
  const fixture = createFixture(t)
  fixture.skill('a', { 'SKILL.md': '---\ndescription: before --- after\nnote: ---x\nmetadata:\n  requires:\n    bins: [no-such-program]\n---\n' })
  fixture.skill('b', { 'SKILL.md': '---\r\nname: windows\r\n--- \r\nbody\r\n---\r\nmore\r\n' })
  fixture.skill('c', { 'SKILL.md': '# Title\n---\nname: not a front matter\n---\n' })
  fixture.skill('d', { 'SKILL.md': '\ufeff---\nname: marked\n---\nbody' })
  const registry = await fixture.load()
  t.same(registry.skills().map(({ name, text }) => [name, text]), [
    ['windows', 'body\r\n---\r\nmore\r\n'], ['c', '# Title\n---\nname: not a front matter\n---\n'], ['marked', 'body']
  ])
  t.match(registry.findings, [{ rule: 'SC22', message: 'skill "a" is skipped: it needs no-such-program' }])
})

const bomb = ['a: &a [x, x, x, x, x, x, x, x, x, x]', ...'bcdefghi'.split('').map((name, at) => `${name}: &${name} [${Array(10).fill(`*${'abcdefgh'[at]}`).join(', ')}]`)].join('\n')

/** Front matters that are refused, with the rule and the text that says why. */
const refused: Array<[title: string, text: string, rule: string, message: RegExp]> = [
  ['B15 a front matter that is not closed', '---\nname: x\n', 'B15', /^the front matter has no closing line ---$/],
  ['SC22 a front matter that is no YAML', skillMd('name: [x'), 'SC22', /^front matter: (?!.* at line).+$/],
  ['SC22 a duplicate key', skillMd('name: x\nname: y'), 'SC22', /^front matter: Map keys must be unique$/],
  ['SC22 a name that is no text', skillMd('name: 5'), 'SC22', /^front matter: name: must be string or null$/],
  ['SC22 a front matter that is no map', skillMd('- x'), 'SC22', /^front matter: must be object$/],
  ['SC22 programs that are no list', skillMd('metadata: {requires: {bins: git}}'), 'SC22', /^front matter: metadata\.requires\.bins: must be array or null$/],
  ['SC22 aliases that expand without bound', skillMd(bomb), 'SC22', /^front matter: Excessive alias count/],
  ...['[', '{a: ', '- ', '? ', '[? '].map((level): [string, string, string, RegExp] => [
    `SC22 nesting without bound (${level})`, skillMd(level.repeat(16_000 / level.length)), 'SC22', /^front matter: is nested deeper than 100 levels$/
  ]),
  ['SC22 nesting without bound (lines)', skillMd(Array.from({ length: 150 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n')), 'SC22', /^front matter: is nested deeper than 100 levels$/],
  ['SC22 a front matter without end', skillMd(`name: x\n${'# comment\n'.repeat(10_000)}`), 'SC22', /^front matter: is longer than 16384 characters$/]
]

for (const [title, text, rule, message] of refused) {
  t.test(`${title} refuses the skill, and no other`, async t => {
    const fixture = createFixture(t)
    fixture.skill('a', { 'SKILL.md': text })
    fixture.skill('b')
    const registry = await fixture.load()
    t.match(registry.findings, [{ severity: 'error', rule, message, file: join(fixture.skills, 'a/SKILL.md'), fix: /./ }])
    t.same(skillNames(registry), ['b'])
  })
}

t.test('SC22 a text with a colon is read as if it had its quotes, and told with line and column', async t => {
  const fixture = createFixture(t)
  fixture.skill('a', { 'SKILL.md': '---\nname: a\ndescription: Use when: asked\nlicense: see: LICENSE\n---\n' })
  fixture.skill('b', { 'SKILL.md': '---\nname: b\nbroken: [x: y\ndescription: Use when: asked\n---\n' })
  const registry = await fixture.load()
  t.same(registry.skills().map(({ name, description }) => [name, description]), [['a', 'Use when: asked']])
  t.match(registry.findings, [
    { severity: 'warning', rule: 'SC22', line: 3, column: 14, fix: /^Correct the YAML: a text that has a colon and a space in it stands in quotes/ },
    { severity: 'warning', rule: 'SC22', line: 4, column: 10 },
    { severity: 'error', rule: 'SC22', file: join(fixture.skills, 'b/SKILL.md'), line: /\d/ }
  ])
})

t.test('SC22 a description that begins with a sign of YAML is read as if it had its quotes', async t => {
  const fixture = createFixture(t)
  const texts = ['@Observable and other macros', '[Draft] Reads mail', '`git log` for people', '*All* of it: now', '"Quoted" words first', '%TEMP% is cleaned', '{braces} are kept']
  for (const [at, text] of texts.entries()) fixture.skill(`s${at}`, { 'SKILL.md': `---\nname: s${at}\ndescription: ${text}\n---\n` })
  const registry = await fixture.load()
  t.same(registry.skills().map(({ description }) => description), texts)
  t.match(registry.findings, texts.map(() => ({ severity: 'warning', rule: 'SC22', line: 3, column: 14, message: /^front matter: description (?:has a colon|begins with .) and stands in no quotes/ })))
  t.equal(registry.findings.length, texts.length)
})

t.test('a validation tells of fields of a front matter that nobody reads, with their lines', async t => {
  const fixture = createFixture(t)
  fixture.skill('a', { 'SKILL.md': skillMd('name: a\nallowed-tools: Bash(git:*)\nlicence: MIT\nversion: 1') })
  const { ok, findings } = await validateManifests([fixture.skills])
  t.ok(ok)
  t.match(findings, [
    { severity: 'warning', rule: 'skill/front-matter', line: 4, message: 'front matter: "licence" is no field that is read' },
    { severity: 'warning', rule: 'skill/front-matter', line: 5 },
    { severity: 'note', rule: 'skill/front-matter', message: /no description/ }
  ])
  t.same((await fixture.load()).findings, [])
})

t.test('a validation notes a skill without a description, and what it lacks then', async t => {
  const fixture = createFixture(t)
  for (const [at, text] of ['No front matter.\n', skillMd('name: s1'), skillMd("name: s2\ndescription: ''"), skillMd('name: s3\ndescription: Reads mail')].entries()) fixture.skill(`s${at}`, { 'SKILL.md': text })
  const { ok, findings } = await validateManifests([fixture.skills])
  t.ok(ok)
  const lacking = findings.filter(({ message }) => message.includes('no description'))
  t.match(lacking, ['s0', 's1', 's2'].map(name => ({ severity: 'note', rule: 'skill/front-matter', file: join(fixture.skills, name, 'SKILL.md'), fix: /activate_skill doesn't offer it/ })))
  t.equal(lacking.length, 3)
  t.same((await fixture.load()).findings, [])
})

t.test('S1 a SKILL.md that is no text file of the skill is reported', async t => {
  const fixture = createFixture(t)
  mkdirSync(join(fixture.skills, 'folder/SKILL.md'), { recursive: true })
  rmSync(join(fixture.skill('link'), 'SKILL.md'))
  symlinkSync('/etc/hostname', join(fixture.skills, 'link/SKILL.md'))
  writeFileSync(join(fixture.skill('latin'), 'SKILL.md'), Buffer.from('\xe4', 'latin1'))
  const registry = await fixture.load()
  t.same(skillNames(registry), [])
  t.same(told(registry.findings), [
    'error S1 SKILL.md is not a file', 'error S1 SKILL.md is not UTF-8', 'error S1 SKILL.md is a symbolic link out of the directory of the skill'
  ])
})

t.test('SC21 a directory of skills may hold a symbolic link to a skill', async t => {
  const fixture = createFixture(t)
  const real = fixture.skill('real', { 'tools.json': named('search') })
  mkdirSync(join(fixture.base, 'others'))
  symlinkSync(real, join(fixture.base, 'others/linked'))
  const registry = await fixture.load({}, [join(fixture.base, 'others')])
  t.same(skillNames(registry), ['linked'])
  t.same(await fixture.call(registry, 'search', {}), { ok: true, output: 'run\0' })
})

t.test('SC23 X32 enabled names the skills that are loaded, none when it is empty', async t => {
  const fixture = createFixture(t)
  fixture.skill('a', { 'tools.json': named('first') })
  fixture.skill('b', { 'tools.json': named('second') })
  t.same(names(await fixture.load({ enabled: 'all' })), ['first', 'second'])
  t.same(names(await fixture.load({ enabled: ['b'] })), ['second'])
  t.same(names(await fixture.load({ enabled: [] })), [])
})

t.test('SC23 X32 disabled names the skills that are not loaded, whatever enabled says', async t => {
  const fixture = createFixture(t)
  fixture.skill('a', { 'tools.json': named('first') })
  fixture.skill('b', { 'SKILL.md': skillMd('name: other'), 'tools.json': named('second') })
  t.same(names(await fixture.load({ disabled: ['other'] })), ['first'])
  t.same(names(await fixture.load({ enabled: ['a', 'other'], disabled: ['a'] })), ['second'])
  t.same((await fixture.load({ disabled: ['a', 'other'] })).findings, [])
})

t.test('a skill of a thousand tools is loaded in less than a second', async t => {
  const fixture = createFixture(t)
  fixture.skill('many', { 'tools.json': named(...Array.from({ length: 1_000 }, (_, at) => `tool_${at}`)) })
  const begun = performance.now()
  t.equal(names(await fixture.load()).length, 1_000)
  t.comment(`${Math.round(performance.now() - begun)} ms`)
  t.ok(performance.now() - begun < 5_000, 'with room for a busy machine')
})

t.test('a change of only a skill\'s text makes another version of the registry', async t => {
  const fixture = createFixture(t)
  fixture.skill('notes', { 'SKILL.md': skillMd('name: notes', 'old\n') })
  const registry = await fixture.load()
  fixture.skill('notes', { 'SKILL.md': skillMd('name: notes', 'new\n') })
  const next = await registry.reload()
  t.not(next.version, registry.version, 'so that a service which runs replaces what it tells models')
  t.equal((await next.reload()).version, next.version)
})
