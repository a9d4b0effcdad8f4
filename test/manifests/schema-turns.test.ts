import { createSchemas } from '@toolyard/manifests'
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
