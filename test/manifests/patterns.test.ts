import t from 'tap'
import { createSchemas } from '@toolyard/manifests'
import { entry, errors, load, validatorOf } from './fixture.ts'
import { accepted, isElsewhere } from './patterns.ts'

// Each load starts a thread.
t.setTimeout(240_000)

const refused = [
  '^(a+)+$', '(a|a)*$', '(a|aa)+$', '^(\\w+\\s?)*$', '(.*a){20}', '^(([a-z])+.)+[A-Z]([a-z])+$', '(x+x+)+y', '^(a*)*$', '^((a|b)*)*$',
  '^([a-zA-Z0-9]+)*$', '^(\\d+)*x', '(a?){30}a{30}', '^(.*)*$', '^(a|b|ab)*c$', '(\\s*,?\\s*)*$', '^(a+){2,}$', '^(\\d|\\w)+$',
  '^(?=(a+)+b)', '(a+)\\1+b', '((\\s{0,20})(\\/\\P{L}\\1(?:[ab][^\\s@]é{0,20}[^]{1,3}|\\s*?\\w{0,20}^))*?[^a])\\1\\/+', '^(a{1,50}){1,50}$', '^([^,]*,?)+$', '^\\w+([.-]?\\w+)*@x$', '((a{1000}){1000}){1000}',
  `${'(?:'.repeat(90)}a${'){3}'.repeat(90)}`, `${'(?:'.repeat(90)}${'){3}'.repeat(90)}`, 'a'.repeat(1_001)
]

t.test('ordinary patterns are accepted and match as usual', async t => {
  const validate = await validatorOf(t, { type: 'object', properties: Object.fromEntries(accepted.map(([pattern]) => [pattern, { type: 'string', pattern }])) })
  for (const [pattern, fits, fails] of accepted) {
    t.ok(validate({ [pattern]: fits }).ok, `${pattern} fits ${JSON.stringify(fits)}`)
    t.notOk(validate({ [pattern]: fails }).ok, `${pattern} fails ${JSON.stringify(fails)}`)
  }
})

t.test('whether a pattern is accepted does not depend on how busy the machine is', t => {
  const now = Date.now.bind(Date)
  let asked = 0
  // What the proof measures its time with.
  t.intercept(Date, 'now', { value: () => now() + (asked++ === 0 ? 0 : 2_000) })
  const { validate } = createSchemas().validators({ type: 'object', properties: { a: { type: 'string', pattern: '^(?=.*[A-Z])(?=.*\\d).{8,}$' } } })
  t.ok(validate({ a: 'Abcdefg1' }).ok)
  t.notOk(validate({ a: 'abcdefg1' }).ok)
  t.ok(asked > 1)
  t.end()
})

t.test('fault 34 patterns that can backtrack without bound are refused', async t => {
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
