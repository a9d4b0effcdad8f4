import { randomBytes } from 'node:crypto'
import { seal, StoredSecrets, unseal } from '@toolyard/store'
import fc from 'fast-check'
import t from 'tap'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

const keys = { current: randomBytes(32), previous: undefined }

t.test('a sealed value opens in its own place with its own key alone, and no changed byte passes', t => {
  fc.assert(fc.property(fc.string({ minLength: 1, maxLength: 200, unit: 'binary' }), fc.nat(), (value, at) => {
    const record = seal(value, 'a', keys)
    if (unseal(record, 'a', keys) !== Buffer.from(value).toString('utf8')) throw new Error('not the same')
    if (unseal(record, 'b', keys) !== undefined) throw new Error('opened elsewhere')
    if (unseal(record, 'a', { current: randomBytes(32), previous: undefined }) !== undefined) throw new Error('opened by another key')
    const { data, ...rest } = JSON.parse(record) as { data: string }
    const bytes = Buffer.from(data, 'base64')
    bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ 1
    if (unseal(JSON.stringify({ ...rest, data: bytes.toString('base64') }), 'a', keys) !== undefined) throw new Error('a changed record was opened')
  }))
  t.end()
})

void t.test('a call gets the secret of its key, else of its tenant, else the operator\'s', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const secrets = new StoredSecrets(redis, keys)
  const open = async (keyName?: string, tenant?: string): Promise<string | undefined> => (await secrets.open(['github'], { keyName, tenant })).get('github')
  t.equal(await open('app', 'acme'), undefined)
  await secrets.put('github', { kind: 'operator' }, 'of operator')
  await secrets.put('github', { kind: 'tenant', tenant: 'acme' }, 'of acme')
  await secrets.put('github', { kind: 'key', key: 'app' }, 'of app')
  t.same([await open('app', 'acme'), await open('x', 'acme'), await open('x', 'other'), await open()], ['of app', 'of acme', 'of operator', 'of operator'])
  t.equal(await secrets.remove('github', { kind: 'key', key: 'app' }), true)
  t.equal(await secrets.remove('github', { kind: 'key', key: 'app' }), false)
  t.equal(await open('app', 'acme'), 'of acme', 'the next call')
  for (const key of await redis.keys('*')) {
    const text = JSON.stringify(await redis.hgetall(key).catch(() => ''))
    t.notMatch(text, /of acme|of operator/, key)
  }
})

void t.test('after a change of the key the old one opens, until all is sealed anew', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  await new StoredSecrets(redis, keys).put('a', { kind: 'operator' }, 'value')
  const next = { current: randomBytes(32), previous: keys.current }
  const both = new StoredSecrets(redis, next)
  const call = { keyName: undefined, tenant: undefined }
  t.equal((await both.open(['a'], call)).get('a'), 'value')
  t.same(await both.rotate(), { sealed: 1, lost: 0 })
  t.equal((await new StoredSecrets(redis, { current: next.current, previous: undefined }).open(['a'], call)).get('a'), 'value')
  t.same(await new StoredSecrets(redis, { current: randomBytes(32), previous: undefined }).rotate(), { sealed: 0, lost: 1 })
})
