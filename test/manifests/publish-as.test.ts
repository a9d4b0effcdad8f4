import fc from 'fast-check'
import t from 'tap'
import { resourceUri } from '@toolyard/manifests'
import { entry, errors, load, names } from './fixture.ts'

const texts = (...names: string[]): object => ({ type: 'object', properties: Object.fromEntries(names.map(name => [name, { type: 'string' }])), required: names })

t.test('an entry with publishAs prompt is not listed for models, and can still be called', async t => {
  const registry = await load(t, entry({ publishAs: 'prompt', schema: texts('topic') }), entry({ name: 'plain' }))
  t.strictSame(errors(registry), [])
  t.strictSame(registry.published().map(({ tool }) => tool.name), ['plain'])
  t.strictSame(registry.get('probe')?.tool.publishAs, { kind: 'prompt' })
})

t.test('an entry is published as a resource, whose URI may hold its arguments', async t => {
  const registry = await load(t, entry({ publishAs: { uri: 'report://{year}/{month}', mimeType: 'text/markdown' }, schema: texts('year', 'month') }))
  t.strictSame(registry.get('probe')?.tool.publishAs, { kind: 'resource', uri: 'report://{year}/{month}', mimeType: 'text/markdown' })
  t.strictSame(registry.published(), [])
})

t.test('a fault of publishAs disables only its entry, and the finding has the place and the remedy', async t => {
  const number = { type: 'object', properties: { count: { type: 'integer' } } }
  const faults: Array<[unknown, object, RegExp]> = [
    ['page', {}, /publishAs must be "prompt" or/],
    [{ url: 'a:b' }, {}, /publishAs must be "prompt" or/],
    ['prompt', number, /"count" is no text/],
    [{ uri: 'report' }, {}, /must begin with a scheme/],
    [{ uri: 'skill://mine' }, {}, /has the scheme skill/],
    [{ uri: 'a:{x' }, {}, /brace/],
    [{ uri: 'a:{x}{y}' }, texts('x', 'y'), /nothing between them/],
    [{ uri: 'a:{x}/{x}' }, texts('x'), /same variable twice/],
    [{ uri: 'a:{x-y}' }, {}, /letters, digits and _/],
    [{ uri: 'a:{x}' }, {}, /variable "x", which is no text parameter/],
    [{ uri: 'a:b' }, texts('x'), /no \{x\}, which the schema requires/]
  ]
  for (const [publishAs, schema, says] of faults) {
    const registry = await load(t, entry({ publishAs, schema }), entry({ name: 'other' }))
    t.match(errors(registry), [{ rule: 'mcp/publish', index: 0, tool: 'probe', message: says, fix: String }], JSON.stringify(publishAs))
    t.strictSame(names(registry), ['other'])
  }
})

t.test('any arguments can be read back from the URI that they made', async t => {
  const value = fc.string({ minLength: 1, unit: 'grapheme' })
  await t.resolves(fc.assert(fc.asyncProperty(value, value, async (year, month) => {
    const { match } = resourceUri('report://{year}/of-{month}')
    // A value that holds the text behind it is cut there: encoded it doesn't hold a slash.
    t.same(match(`report://${encodeURIComponent(year)}/of-${encodeURIComponent(month)}`), { year, month })
  })))
})

t.test('a URI of another form matches no template', async t => {
  const { match } = resourceUri('test://template/{id}/data')
  for (const uri of ['test://template//data', 'test://template/1/2/data', 'test://template/1/data/', 'test://template/1?x/data', 'test://template/%zz/data', 'Test://template/1/data', 'test://template/1/dat']) {
    t.equal(match(uri), undefined, uri)
  }
  t.strictSame(match('test://template/a%2Fb/data'), { id: 'a/b' })
  t.strictSame(resourceUri('test://static').match('test://static'), {})
})

t.test('a long URI is matched in linear time', async t => {
  const { match } = resourceUri('a:{x}-{y}-{z}.end')
  t.equal(match(`a:${'-'.repeat(1_000_000)}`), undefined)
})
