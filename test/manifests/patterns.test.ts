import fc from 'fast-check'
import t from 'tap'
import { createSchemas } from '@toolyard/manifests'
import { entry, errors, load, validatorOf } from './fixture.ts'
import { processorMs } from '../support/processor-time.ts'

// Each load starts a thread.
t.setTimeout(240_000)

/** Ordinary patterns, each with a text that fits and one that doesn't. */
const accepted: ReadonlyArray<readonly [pattern: string, fits: string, fails: string]> = [
  ['^[a-z0-9-]+$', 'a-1', 'A'],
  ['^\\d{4}-\\d{2}-\\d{2}$', '2026-11-21', '2026-11'],
  ['^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$', 'a@b.org', 'a@b\u2003.org'],
  ['^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\\.[a-zA-Z]{2,}$', 'a.b@c.org', 'a@b'],
  ['^https?://', 'https://x', 'ftp://x'],
  ['^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', '550e8400-e29b-41d4-a716-446655440000', '550e8400'],
  ['^([01]\\d|2[0-3]):[0-5]\\d$', '23:59', '24:00'],
  ['^#[0-9a-fA-F]{6}$', '#12abEF', '#12'],
  ['^[a-z0-9]+(-[a-z0-9]+)*$', 'a-b-c', 'a--b'],
  ['^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,}$', 'www.example.org', '-a.org'],
  ['^((25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)\\.){3}(25[0-5]|2[0-4][0-9]|[01]?[0-9][0-9]?)$', '127.0.0.1', '256.0.0.1'],
  ['^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?$', '1.2.3-rc.1', '01.2.3'],
  ['^(?=.*[A-Z])(?=.*\\d).{8,}$', 'Abcdefg1', 'abcdefg1'],
  ['^(?!-)[a-z-]+$', 'a-b', '-a'],
  ['\\.json$', 'a.json', 'a.jso'],
  // Escapes that JavaScript refuses where Unicode counts, and others take for the character.
  ['^\\d{4}\\-\\d{2}\\_\\@[\\w\\-\\:]+$', '2026-11_@a-:', '2026-11'],
  ['^([^;]+;)*[^;]+$', 'a;b', 'a;;b'],
  ['^\\p{Lu}\\p{Ll}+( \\p{Lu}\\p{Ll}+)*$', 'Élan Vital', 'élan'],
  ['^(?<year>\\d{4})$', '2026', '26'],
  ['^.{1,5000}$', 'x', ''],
  ['^(/[^/]+)+$', '/a/b', '//'],
  [`^(${Array.from({ length: 150 }, (_, index) => `w${index}`).join('|')})$`, 'w149', 'w150'],
  // Quadratic for an engine that backtracks; run on one that doesn't.
  ['a*a*b', 'aab', 'aa'],
  ['\\s+$', 'x\u00a0', 'x\u180e'],
  ['^\\s+|\\s+$', ' x', 'x'],
  ['^.*foo.*$', 'a foo', 'a\nfoo'],
  ['[\\S\\d]*[^\\W\\s]+x$', '-1x', ' '],
  ['.*[\\u0041-\\u{1F600}\\]^-]x$', '😀x', '1x']
]

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

t.test('accepted patterns check 1 MB of bad text at once', async t => {
  const properties = Object.fromEntries(accepted.map(([pattern]) => [pattern, { type: 'string', pattern }]))
  const validate = await validatorOf(t, { type: 'object', properties })
  // Compiles it.
  validate({})
  for (const unit of ['a', ' ', 'a@.', 'a.', '0', '/a', 'a;', 'fo']) {
    const text = `${unit.repeat(1_000_000 / unit.length)}\n`
    for (const [pattern] of accepted) {
      const started = processorMs()
      validate({ [pattern]: text })
      t.ok(processorMs() - started < 2_000, `${pattern.slice(0, 60)} on ${unit}`)
    }
  }
})

t.test('formats check 200 kB of the worst text at once', async t => {
  for (const format of ['date-time', 'uri', 'url', 'email', 'hostname', 'ipv6', 'uri-template', 'byte', 'json-pointer', 'duration', 'uuid']) {
    const validate = await validatorOf(t, { type: 'object', properties: { a: { type: 'string', format } } })
    for (const unit of ['a', ':', 'http://', 'a@', 'a.', '%41', '{', '/', '0']) {
      const started = processorMs()
      validate({ a: `http://${unit.repeat(200_000 / unit.length)}\n` })
      t.ok(processorMs() - started < 2_000, `${format} on ${unit}`)
    }
  }
})

t.test('url accepts absolute addresses', async t => {
  const validate = await validatorOf(t, { type: 'object', properties: { a: { type: 'string', format: 'url' } } })
  t.ok(validate({ a: 'https://example.org/a?b=c' }).ok)
  for (const a of ['example.org', '/a', 'mailto:a@b.org']) t.notOk(validate({ a }).ok)
})

/** Whether a check is made in a thread: one that is made here has its answer before anything else happens. */
async function isElsewhere (check: () => Promise<unknown>): Promise<boolean> {
  let isOver = false
  const checking = check().then(() => { isOver = true })
  for (let step = 0; step < 20; step++) await Promise.resolve()
  const elsewhere = !isOver
  await checking
  return elsewhere
}

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

t.test('a pattern that runs in the main thread checks 1 MB of any text at once', async t => {
  const part = fc.constantFrom('a', 'b', '.', '\\w', '[ab]', '[^b]', '\\.')
  const count = fc.constantFrom('', '', '{2}', '{99}', '*', '+', '?', '{1,999}')
  const pattern = fc.tuple(fc.constantFrom('^', '^', ''), fc.array(fc.tuple(part, count), { minLength: 1, maxLength: 4 }), fc.constantFrom('', '$'))
    .map(parts => parts.flat(2).join(''))
  const texts = ['a', 'ab', '.'].map(unit => `${unit.repeat(1_000_000 / unit.length)}\n`)
  let plain = 0
  await t.resolves(fc.assert(fc.asyncProperty(fc.uniqueArray(pattern, { minLength: 60, maxLength: 60 }), async patterns => {
    const registry = await load(t, ...patterns.map((pattern, at) => entry({ name: `p${at}`, schema: { type: 'object', properties: { a: { type: 'string', pattern } } } })))
    for (const [at, pattern] of patterns.entries()) {
      const tool = registry.get(`p${at}`)
      if (tool === undefined || await isElsewhere(async () => await tool.check({ a: '' }))) continue
      plain++
      for (const a of texts) {
        const started = processorMs()
        tool.validate({ a })
        if (processorMs() - started > 2_000) throw new Error(`${pattern} takes long`)
      }
    }
  }), { numRuns: 1 }))
  t.ok(plain > 5, `${plain} were plain`)
})

t.test('a text that needs too many steps of a pattern is refused, and a shorter one is checked', async t => {
  const tool = (await load(t, entry({ schema: { type: 'object', properties: { a: { type: 'string', pattern: '^[ab]*a[ab]{900}c$' } } } }))).get('probe')
  t.strictSame(await tool?.check({ a: 'a'.repeat(1_000_000) }), { ok: false, issues: [{ path: '/', message: 'is too complex to check against the schema of the tool' }] })
  t.match(await tool?.check({ a: `${'a'.repeat(10_000)}c` }), { ok: true })
  t.match(await tool?.check({ a: 'a'.repeat(10_000) }), { ok: false, issues: [{ path: '/a' }] })
})
