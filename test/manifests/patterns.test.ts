import t from 'tap'
import { entry, errors, load, validatorOf } from './fixture.ts'
import { accepted, isElsewhere } from './patterns.ts'

// Each load starts a thread.
t.setTimeout(240_000)

/** Exponential for an engine that backtracks; RE2 takes linear time. */
const linear = ['^(a+)+$', '(a|a)*$', '(a|aa)+$', '^(\\w+\\s?)*$', '(.*a){20}', '(x+x+)+y', '^(a*)*$', '(a?){30}a{30}', '^(\\d|\\w)+$', '^(a{1,50}){1,19}$', '^\\w+([.-]?\\w+)*@x$']
/** Those that RE2 can't read, with a text that takes a backtracking engine for ever. */
const backtracking = [['^(?=(a+)+b)', 'a'.repeat(60)], ['^(a+)+\\1b', 'a'.repeat(60)]] as const
/** Those that no engine reads, or can hold. */
const refused = ['(', '[z-a]', '((a{1000}){1000}){1000}', `${'(?:'.repeat(90)}a${'){3}'.repeat(90)}`, 'a'.repeat(1_001)]

t.test('ordinary patterns are accepted and match as usual', async t => {
  const validate = await validatorOf(t, { type: 'object', properties: Object.fromEntries(accepted.map(([pattern]) => [pattern, { type: 'string', pattern }])) })
  for (const [pattern, fits, fails] of accepted) {
    t.ok(validate({ [pattern]: fits }).ok, `${pattern} fits ${JSON.stringify(fits)}`)
    t.notOk(validate({ [pattern]: fails }).ok, `${pattern} fails ${JSON.stringify(fails)}`)
  }
})

t.test('fault 34 a pattern that could backtrack without bound is run in linear time', async t => {
  const validate = await validatorOf(t, { type: 'object', properties: Object.fromEntries(linear.map(pattern => [pattern, { type: 'string', pattern }])) })
  const begun = performance.now()
  for (const pattern of linear) validate({ [pattern]: `${'a'.repeat(5_000)}!` })
  t.ok(performance.now() - begun < 30_000)
})

t.test('fault 34 a pattern that RE2 cannot read matches as usual, and ends at its deadline; others go on meanwhile', async t => {
  const schemaOf = (pattern: string): object => ({ type: 'object', properties: { a: { type: 'string', pattern } } })
  const registry = await load(t, ...backtracking.map(([pattern], at) => entry({ name: `probe${at}`, schema: schemaOf(pattern) })), entry({ name: 'other', schema: schemaOf('^(ab)+$') }))
  t.same(errors(registry), [], 'no tool is lost for its pattern')
  t.match(await registry.get('probe0')?.check({ a: 'aab' }), { ok: true })
  t.match(await registry.get('probe1')?.check({ a: 'aab' }), { ok: true })
  t.match(await registry.get('probe1')?.check({ a: 'ab' }), { ok: false, issues: [{ path: '/a' }] })
  for (const [at, [, text]] of backtracking.entries()) {
    let isOver = false
    const stuck = registry.get(`probe${at}`)?.check({ a: text }).finally(() => { isOver = true })
    t.match(await registry.get('other')?.check({ a: 'abab' }), { ok: true })
    t.notOk(isOver)
    t.match(await stuck, { ok: false, issues: [{ message: 'is too complex to check against the schema of the tool' }] })
  }
})

t.test('a pattern that no engine reads or can hold is refused', async t => {
  const registry = await load(t, ...refused.map((pattern, at) => entry({ name: `probe${at}`, schema: { type: 'object', properties: { a: { pattern } } } })))
  const found = errors(registry)
  for (const [at, pattern] of refused.entries()) {
    t.match(found[at], { rule: 'A6', message: new RegExp(`^tool\\[${at}\\] "probe${at}": schema has a pattern that `) }, pattern.slice(0, 80))
  }
})

t.test('url accepts absolute addresses', async t => {
  const validate = await validatorOf(t, { type: 'object', properties: { a: { type: 'string', format: 'url' } } })
  t.ok(validate({ a: 'https://example.org/a?b=c' }).ok)
  for (const a of ['example.org', '/a', 'mailto:a@b.org']) t.notOk(validate({ a }).ok)
})

t.test('patterns that are certainly cheap run in the main thread, all others in another one', async t => {
  const patterns = new Map([
    ['^[a-z0-9._:-]{1,80}$', true], ['^[A-Fa-f0-9]{64}$', true], ['\\S', true], ['\\.json$', true], ['^\\d{4}-\\d{2}$', true], ['^.{0,500}$', true],
    ['^a-b\\-c+', true], ['\\w{0,100}$', false], ['^a*a{90}x', false], ['^a?a?b', false], ['[ab]{9}c', false], ['^(ab)+$', false], ['^a|b', false],
    ['^(?=.*a)', false], ['^\\p{L}+$', false], [`^${'a'.repeat(64)}`, false]
  ])
  const registry = await load(t, ...[...patterns.keys()].map((pattern, at) => entry({ name: `p${at}`, schema: { type: 'object', properties: { a: { type: 'string', pattern } } } })))
  for (const [at, [pattern, plain]] of [...patterns].entries()) {
    const tool = registry.get(`p${at}`)
    t.equal(tool !== undefined && await isElsewhere(async () => await tool.check({ a: 'x' })), !plain, pattern)
  }
})

t.test('a text that needs too many steps of a pattern is refused, and a shorter one is checked', async t => {
  const tool = (await load(t, entry({ schema: { type: 'object', properties: { a: { type: 'string', pattern: '^[ab]*a[ab]{900}c$' } } } }))).get('probe')
  t.strictSame(await tool?.check({ a: 'a'.repeat(1_000_000) }), { ok: false, issues: [{ path: '/', message: 'is too complex to check against the schema of the tool' }] })
  t.match(await tool?.check({ a: `${'a'.repeat(10_000)}c` }), { ok: true })
  t.match(await tool?.check({ a: 'a'.repeat(10_000) }), { ok: false, issues: [{ path: '/a' }] })
})
