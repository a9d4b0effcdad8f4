import { callbacksOf, createCallbackCheck, readSettings } from '@toolyard/runtime'
import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { post } from '../jobs/submission.ts'
import { createClient } from '../support/client.ts'
import { createService, testKeys } from '../support/service.ts'
import { callbackEnv, secret } from '../callbacks/receiver.ts'

const service = await createService(t, { files: programs, tools: entries, env: callbackEnv, workers: 0 })
const { client } = service
const job = { type: 'agentcli.echo' }
const malformed = "'callback_url' must be an http(s) URL of at most 2048 characters, without user name and password"
const unusable = (reason: string): string => `'callback_url' can't be used: ${reason}`

t.test('RC22, RC33 a callback_url that is no URL, or that would not be called, is refused in a job and in a batch', async t => {
  const cases: Array<[unknown, string]> = [
    ...[5, '', 'hooks.test', '/path', 'ftp://hooks.test/', 'file:///etc/passwd', 'https://', 'https://user:pass@hooks.test/', 'https://user@hooks.test/', 'https://hooks.test/a b',
      'https://hooks.test/\n', `https://hooks.test/${'x'.repeat(2_048)}`].map((url): [unknown, string] => [url, malformed]),
    ...['other.test', 'evilhooks.test', 'hooks.test.evil.com', 'test', '10.0.0.1'].map((host): [unknown, string] => [`https://${host}/x`, unusable(`host not allowlisted: ${host}`)])
  ]
  for (const [url, message] of cases) {
    const single = await post(client, { ...job, callback_url: url })
    t.same({ status: single.status, error: (single.body as unknown as { error: unknown }).error }, { status: 400, error: { code: 'VALIDATION_ERROR', message, details: {} } }, String(url))
    const batch = await client.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'a', name: 'echo' }], callback_url: url } })
    t.same({ status: batch.status, error: batch.body['error'] }, { status: 400, error: { code: 'VALIDATION_ERROR', message, details: {} } }, String(url))
  }
})

t.test('RC33 hosts of the allowlist and their subdomains are accepted in any case; null means no callback', async t => {
  for (const url of ['https://hooks.test/x?y=z', 'https://a.b.HOOKS.test:8443/', 'https://hooks.test.', null]) {
    const answer = await post(client, { ...job, callback_url: url })
    t.equal(answer.status, 201, String(url))
    t.equal(answer.body.job.callback_url, url)
  }
})

t.test('RC23 another callback_url is another request', async t => {
  const headers = { 'idempotency-key': 'callback-1' }
  const body = { ...job, callback_url: 'https://hooks.test/a' }
  t.equal((await post(client, body, { headers })).status, 201)
  t.equal((await post(client, body, { headers })).status, 200)
  t.equal((await post(client, { ...job, callback_url: 'https://hooks.test/b' }, { headers })).status, 409)
  t.equal((await post(client, job, { headers })).status, 409)
  const batch = { calls: [{ call_id: 'a', name: 'echo' }], mode: 'async' }
  const repeat = async (rest: object): Promise<number> => (await client.request('/v1/agent-tools/invoke-batch', { headers: { 'idempotency-key': 'callback-2' }, body: { ...batch, ...rest } })).status
  t.same([await repeat({ callback_url: 'https://hooks.test/a' }), await repeat({ callback_url: 'https://hooks.test/a' }), await repeat({})], [200, 200, 409])
})

t.test('RC33, fault 44 by default only https to public addresses is accepted', async t => {
  const callbacks = callbacksOf(readSettings({ CALLBACK_SECRET: secret, CALLBACK_ALLOWLIST: '*' }))
  if (callbacks.kind === 'none') throw new Error('not configured')
  const refusalOf = createCallbackCheck(callbacks.policy)
  t.equal(refusalOf(new URL('https://hooks.test/')), undefined)
  t.equal(refusalOf(new URL('http://hooks.test/')), 'only https:// URLs are allowed')
  for (const [host, address] of [['127.0.0.1', '127.0.0.1'], ['2130706433', '127.0.0.1'], ['169.254.169.254', '169.254.169.254'], ['[::1]', '::1'], ['[::ffff:10.0.0.1]', '::ffff:a00:1'], ['[fd00::1]', 'fd00::1']] as const) {
    t.equal(refusalOf(new URL(`https://${host}/`)), `address not allowed: ${address} is not a public host`, host)
  }
})

t.test('RC33 where callbacks are not configured the answer says what is missing, and everything else works', async t => {
  t.same(callbacksOf(readSettings({})), { kind: 'none', missing: ['CALLBACK_SECRET', 'CALLBACK_ALLOWLIST'] })
  t.throws(() => readSettings({ CALLBACK_SECRET: 'short' }), /CALLBACK_SECRET must be a text of at least 16 characters/)
  const other = createClient((await service.startApi({ CALLBACK_SECRET: '' })).address, testKeys.admin)
  t.equal((await post(other, job)).status, 201)
  t.match((await post(other, { ...job, callback_url: 'https://hooks.test/' })).body, {
    error: { code: 'VALIDATION_ERROR', message: unusable('callbacks are not configured here; the operator must set CALLBACK_SECRET') }
  })
})
