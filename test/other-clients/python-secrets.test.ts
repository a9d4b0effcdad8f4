import t from 'tap'
import { createService, testKeys } from '../support/service.ts'
import { runPython, withoutPython } from './python.ts'

t.test('the Python clients store, list and remove secrets of each scope', { skip: withoutPython }, async t => {
  const service = await createService(t, { env: { SECRETS_KEY: 'ab'.repeat(32) } })
  t.strictSame(JSON.parse(await runPython('secrets.py', [], { TOOLYARD_URL: service.api.address, TOOLYARD_API_KEY: testKeys.admin })), {
    stored: [['github', 'operator', null], ['github', 'tenant', 'acme']],
    left: [['github', 'tenant', 'acme']],
    gone: ['NOT_FOUND', 404],
    no_name: 'VALIDATION_ERROR',
    async_stored: ['key', 'tenant'],
    async_left: 0
  })
})
