import t from 'tap'
import { entry, errors, load, validatorOf } from './fixture.ts'

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

t.test('ordinary patterns are accepted and mean what they say', async t => {
  for (const [pattern, fits, fails] of accepted) {
    const validate = await validatorOf(t, { type: 'object', properties: { a: { type: 'string', pattern } } })
    t.ok(validate({ a: fits }).ok, `${pattern} fits ${JSON.stringify(fits)}`)
    t.notOk(validate({ a: fails }).ok, `${pattern} fails ${JSON.stringify(fails)}`)
  }
})

t.test('fault 34 patterns that can backtrack without bound are refused', async t => {
  for (const pattern of refused) {
    const registry = await load(t, entry({ schema: { type: 'object', properties: { a: { pattern } } } }))
    t.match(errors(registry), [{ rule: 'A6', message: /^tool\[0\] "probe": schema has a pattern that / }], pattern.slice(0, 80))
  }
})

t.test('the accepted patterns judge 1 MB of bad text at once', async t => {
  const properties = Object.fromEntries(accepted.map(([pattern]) => [pattern, { type: 'string', pattern }]))
  const validate = await validatorOf(t, { type: 'object', properties })
  for (const unit of ['a', ' ', 'a@.', 'a.', '0', '/a', 'a;', 'fo']) {
    const text = `${unit.repeat(1_000_000 / unit.length)}\n`
    for (const [pattern] of accepted) {
      const started = process.cpuUsage()
      validate({ [pattern]: text })
      t.ok(process.cpuUsage(started).user < 2_000_000, `${pattern.slice(0, 60)} on ${unit}`)
    }
  }
})

t.test('formats judge 200 kB of the worst text at once', async t => {
  for (const format of ['date-time', 'uri', 'url', 'email', 'hostname', 'ipv6', 'uri-template', 'byte', 'json-pointer', 'duration', 'uuid']) {
    const validate = await validatorOf(t, { type: 'object', properties: { a: { type: 'string', format } } })
    for (const unit of ['a', ':', 'http://', 'a@', 'a.', '%41', '{', '/', '0']) {
      const started = process.cpuUsage()
      validate({ a: `http://${unit.repeat(200_000 / unit.length)}\n` })
      t.ok(process.cpuUsage(started).user < 2_000_000, `${format} on ${unit}`)
    }
  }
})

t.test('url accepts absolute addresses', async t => {
  const validate = await validatorOf(t, { type: 'object', properties: { a: { type: 'string', format: 'url' } } })
  t.ok(validate({ a: 'https://example.org/a?b=c' }).ok)
  for (const a of ['example.org', '/a', 'mailto:a@b.org']) t.notOk(validate({ a }).ok)
})
