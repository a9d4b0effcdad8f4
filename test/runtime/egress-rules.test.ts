import { canonicalHost, egressBeyond, egressRuleFor, egressText, readEgressRule } from '@toolyard/runtime/outgoing'
import fc from 'fast-check'
import t from 'tap'

t.test('a list has names, what is below a name, and addresses, with a port or for the web', async t => {
  const written = (text: string): string | undefined => {
    const rule = readEgressRule(text)
    return rule && egressText(rule)
  }
  t.equal(written('API.GitHub.com.'), 'api.github.com')
  t.equal(written('*.Example.com:443'), '*.example.com:443')
  t.equal(written('münchen.de'), 'xn--mnchen-3ya.de')
  t.equal(written('10.0.0.5:5432'), '10.0.0.5:5432')
  t.equal(written('::1'), '[::1]')
  t.equal(written('[::ffff:10.0.0.1]:80'), '10.0.0.1:80')
  t.equal(written('0x7f.1'), '127.0.0.1')
  for (const text of ['', 'https://a.b', 'a.b/c', 'a b', 'a.b:0', 'a.b:65536', 'user@a.b', 'a.*', '**.a', '*.10.0.0.1', 'a:b:c', '10.0.0.0/8']) {
    t.equal(written(text), undefined, text)
  }
})

t.test('an entry lets its own host and ports through, whatever the spelling', async t => {
  const rules = ['api.test', '*.wild.test', 'db.test:5432', '10.0.0.5:80'].map(readEgressRule).filter(rule => rule !== undefined)
  const passes = (host: string, port: number): boolean => egressRuleFor(rules, canonicalHost(host) ?? '', port) !== undefined
  const own = [['API.test.', 443], ['api.test', 80], ['a.b.wild.test', 443], ['db.test', 5432], ['167772165', 80], ['::ffff:a00:5', 80]] as const
  for (const [host, port] of own) t.ok(passes(host, port), host)
  const others = [['api.test', 22], ['x.api.test', 443], ['wild.test', 443], ['notwild.test', 443], ['db.test', 443], ['10.0.0.5', 443]] as const
  for (const [host, port] of others) t.notOk(passes(host, port), host)
})

t.test('a list that bounds others covers what is as narrow or narrower', async t => {
  t.same(egressBeyond(['api.test', '10.0.0.1', '*'], ['*']), [])
  t.same(egressBeyond(['a.api.test:443', 'api.test', '*.api.test', '*', '10.0.0.1', 'a.api.test:22'], ['*.api.test']), ['api.test', '*', '10.0.0.1', 'a.api.test:22'])
})

t.test('what a list lets through lies within what its bound does, for all lists and hosts', async t => {
  const label = fc.constantFrom('a', 'b')
  const name = fc.array(label, { minLength: 1, maxLength: 3 }).map(labels => `${labels.join('.')}.test`)
  const entry = fc.tuple(fc.constantFrom('', '*.'), name, fc.constantFrom('', ':443', ':22')).map(parts => parts.join(''))
  const reads = (texts: string[]) => texts.map(readEgressRule).filter(rule => rule !== undefined)
  const bounds = fc.array(entry, { minLength: 1, maxLength: 3 })
  fc.assert(fc.property(entry, bounds, name, fc.constantFrom(80, 443, 22), (own, bound, host, port) => {
    if (egressBeyond([own], bound).length > 0 || egressRuleFor(reads([own]), host, port) === undefined) return
    if (egressRuleFor(reads(bound), host, port) === undefined) throw new Error(`${own} reaches ${host}:${port} beyond ${bound.join()}`)
  }))
})
