import { createAnswerSchemas, createSchemas } from '@toolyard/manifests'
import t from 'tap'

t.setTimeout(120_000)

t.test('arguments of one tenant that take long to check let those of another one have the next turn', async t => {
  const { check } = createSchemas().validators({ type: 'object', properties: { s: { type: 'string', pattern: '^(?=(a|aa)+$)(a|aa)+b$' } } })
  let ended = 0
  const flood = Array.from({ length: 6 }, async () => {
    const checked = await check({ s: 'a'.repeat(200) }, 'noisy')
    ended += 1
    return checked.ok
  })
  t.match(await check({ s: 'aab' }, 'quiet'), { ok: false, issues: [{ path: '/s' }] })
  // The one under way, and the first that waited.
  t.ok(ended <= 2, `${ended} of the other tenant's were checked before`)
  t.same(await Promise.all(flood), flood.map(() => false))
})

t.test('nothing is remembered of the schemas of questions: a tool writes them, as many as it likes', async t => {
  const schemas = createAnswerSchemas()
  const large = (question: number): object => ({
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`p${at}`, { type: 'string', pattern: `^(?:a{30}){30}_${at}_${question}$` }]))
  })
  const before = process.memoryUsage.rss()
  for (let question = 0; question < 120; question++) {
    const schema = large(question) as Record<string, unknown>
    t.equal(await schemas.fault(schema, 'acme'), undefined)
    t.match(await schemas.check(schema, { p0: 'a' }, 'acme'), { issues: [{ path: '/p0' }] })
  }
  const megabytes = (process.memoryUsage.rss() - before) / 2 ** 20
  t.ok(megabytes < 200, `${megabytes} MB`)
})
