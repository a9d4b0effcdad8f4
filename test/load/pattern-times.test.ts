import fc from 'fast-check'
import t from 'tap'
import { entry, load, validatorOf } from '../manifests/fixture.ts'
import { accepted, isElsewhere } from '../manifests/patterns.ts'
import { processorMs } from '../support/processor-time.ts'

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
