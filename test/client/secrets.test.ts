import { Toolyard } from '@toolyard/client'
import t from 'tap'
import { createService, testKeys } from '../support/service.ts'

t.test('secrets are stored, listed without their values, and removed, each in its scope', async t => {
  const service = await createService(t, { env: { SECRETS_KEY: 'ab'.repeat(32) } })
  const { secrets } = new Toolyard({ url: service.api.address, apiKey: testKeys.admin })
  await secrets.set('github', 'value-of-operator')
  await secrets.set('github', 'value-of-acme', { tenant: 'acme' })
  await secrets.set('github', 'value-of-key', { scope: 'key' })
  const all = await secrets.list()
  t.strictSame(all.secrets.map(({ scope, tenant }) => [scope, tenant]).sort(), [['key', null], ['operator', null], ['tenant', 'acme']])
  t.notMatch(JSON.stringify(all), /value-of/)
  await secrets.remove('github', { scope: 'key' })
  await secrets.remove('github', { tenant: 'acme' })
  t.match((await secrets.list()).secrets, [{ name: 'github', scope: 'operator' }])
  await t.rejects(secrets.remove('github', { tenant: 'acme' }), { code: 'NOT_FOUND', status: 404 })
  await t.rejects(secrets.set('..', 'x'), { code: 'VALIDATION_ERROR' })
})
