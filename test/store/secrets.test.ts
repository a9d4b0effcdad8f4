import { randomBytes } from 'node:crypto'
import { maxStoredSecrets, openSecretSource, RedisUnavailableError, Replicas, seal, serverTime, StoredSecrets, unseal, type SecretScope } from '@toolyard/store'
import fc from 'fast-check'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'
import { anyCharacter } from '../support/any-character.ts'

const keys = { current: randomBytes(32), previous: undefined }

t.test('a sealed value opens in its own place with its own key alone, and no changed byte passes', async t => {
  fc.assert(fc.property(fc.string({ minLength: 1, maxLength: 200, unit: anyCharacter }), fc.nat(), (value, at) => {
    const record = seal(value, 'a', keys)
    if (unseal(record, 'a', keys) !== Buffer.from(value).toString('utf8')) throw new Error('not the same')
    if (unseal(record, 'b', keys) !== undefined) throw new Error('opened elsewhere')
    if (unseal(record, 'a', { current: randomBytes(32), previous: undefined }) !== undefined) throw new Error('opened by another key')
    const { data, ...rest } = JSON.parse(record) as { data: string }
    const bytes = Buffer.from(data, 'base64')
    bytes[at % bytes.length] = (bytes[at % bytes.length] ?? 0) ^ 1
    if (unseal(JSON.stringify({ ...rest, data: bytes.toString('base64') }), 'a', keys) !== undefined) throw new Error('a changed record was opened')
  }))
})

void t.test('a call gets the secret of its key, else of its tenant, else the operator\'s', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const secrets = new StoredSecrets(redis, keys)
  const open = async (keyName?: string, tenant?: string): Promise<string | undefined> => (await secrets.open(['github'], { keyName, tenant })).get('github')
  t.equal(await open('app', 'acme'), undefined)
  await secrets.put('github', { kind: 'operator' }, 'of operator', undefined)
  await secrets.put('github', { kind: 'tenant', tenant: 'acme' }, 'of acme', 'acme')
  await secrets.put('github', { kind: 'key', key: 'app' }, 'of app', 'acme')
  t.same([await open('app', 'acme'), await open('x', 'acme'), await open('x', 'other'), await open()], ['of app', 'of acme', 'of operator', 'of operator'])
  t.equal(await secrets.remove('github', { kind: 'key', key: 'app' }), true)
  t.equal(await secrets.remove('github', { kind: 'key', key: 'app' }), false)
  t.equal(await open('app', 'acme'), 'of acme', 'the next call')
  for (const key of await redis.keys('*')) {
    const text = JSON.stringify(await redis.hgetall(key).catch(() => ''))
    t.notMatch(text, /of acme|of operator/, key)
  }
})

void t.test('the times of a secret are by the clock of Redis, and a new key changes none', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const own = Date.now
  t.teardown(() => { Date.now = own })
  const secrets = new StoredSecrets(redis, keys)
  Date.now = () => own() + 18_000_000
  await waitFor('the clock of Redis is known', () => Math.abs(serverTime(redis) - own()) < 60_000)
  await secrets.put('a', { kind: 'operator' }, 'value', undefined)
  await secrets.open(['a'], { keyName: undefined, tenant: undefined })
  const listed = await waitFor('its use is known', async () => (await secrets.list()).find(({ lastUsedAt }) => lastUsedAt !== undefined))
  t.ok(Math.abs(listed.storedAt - own()) < 60_000)
  t.ok(Math.abs((listed.lastUsedAt ?? 0) - own()) < 60_000)
  const next = new StoredSecrets(redis, { current: randomBytes(32), previous: keys.current })
  Date.now = () => own() + 36_000_000
  await next.rotate()
  t.equal((await next.list())[0]?.storedAt, listed.storedAt)
})

void t.test('after a change of the key the old one opens, until all is sealed anew', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  await new StoredSecrets(redis, keys).put('a', { kind: 'operator' }, 'value', undefined)
  const next = { current: randomBytes(32), previous: keys.current }
  const both = new StoredSecrets(redis, next)
  const call = { keyName: undefined, tenant: undefined }
  t.equal((await both.open(['a'], call)).get('a'), 'value')
  t.same(await both.rotate(), { sealed: 1, lost: 0 })
  t.equal((await new StoredSecrets(redis, { current: next.current, previous: undefined }).open(['a'], call)).get('a'), 'value')
  t.same(await new StoredSecrets(redis, { current: randomBytes(32), previous: undefined }).rotate(), { sealed: 0, lost: 1 })
})

void t.test('where replicas are wanted, secrets are sealed anew only when they have all of it, and a repeat waits as well', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  await new StoredSecrets(redis, keys).put('a', { kind: 'operator' }, 'value', undefined)
  const replicas = new Replicas(redis, 1)
  t.teardown(() => { replicas.stop() })
  const next = new StoredSecrets(redis, { current: randomBytes(32), previous: keys.current }, replicas)
  for (let times = 0; times < 2; times++) await t.rejects(next.rotate(), RedisUnavailableError)
})

void t.test('what a process with the old key stores while all is sealed anew is sealed anew as well', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const old = new StoredSecrets(redis, keys)
  const put = async (value: string): Promise<boolean> => await old.put('a', { kind: 'operator' }, value, undefined)
  await put('value')
  const next = { current: randomBytes(32), previous: keys.current }
  const hget = redis.hget.bind(redis)
  let reads = 0
  redis.hget = async (key: string, field: string) => {
    const record = await hget(key, field)
    if (reads++ === 0) await put('another')
    return record
  }
  t.same(await new StoredSecrets(redis, next).rotate(), { sealed: 1, lost: 0 })
  const call = { keyName: undefined, tenant: undefined }
  t.equal((await new StoredSecrets(redis, { current: next.current, previous: undefined }).open(['a'], call)).get('a'), 'another')
})

void t.test('where the secret of a key or a tenant is there and no key opens it, no other one takes its place', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const secrets = new StoredSecrets(redis, keys)
  await secrets.put('github', { kind: 'operator' }, 'of operator', undefined)
  await new StoredSecrets(redis, { current: randomBytes(32), previous: undefined }).put('github', { kind: 'tenant', tenant: 'acme' }, 'of acme', 'acme')
  const opened = await secrets.open(['github'], { keyName: 'app', tenant: 'acme' })
  t.same([opened.has('github'), opened.get('github')], [true, undefined])
  const source = openSecretSource(secrets, { directory: t.testdir({ github: 'of a file' }), vault: undefined }, () => {})
  t.same(await source?.open(['github'], { keyName: 'app', tenant: 'acme' }), opened)
  t.equal((await secrets.open(['github'], { keyName: 'app', tenant: 'other' })).get('github'), 'of operator')
})

void t.test('the secret of a key is for the tenant that it was of, and a key of the same name stores its own in its place', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const secrets = new StoredSecrets(redis, keys)
  const open = async (tenant?: string): Promise<string | undefined> => (await secrets.open(['github'], { keyName: 'app', tenant })).get('github')
  const put = async (value: string, tenant?: string): Promise<boolean> => await secrets.put('github', { kind: 'key', key: 'app' }, value, tenant)
  await put('of acme', 'acme')
  t.same([await open('acme'), await open('other'), await open()], ['of acme', undefined, undefined])
  await put('of other', 'other')
  t.same([await open('acme'), await open('other')], [undefined, 'of other'])
  await put('of operator')
  t.same([await open('other'), await open()], [undefined, 'of operator'])
  t.same(await redis.hgetall('toolyard:{secrets}:counts'), { '': '1' }, 'it counts in the room of the last one')
})

void t.test('a tenant that has stored all that it may takes no room from others, and has room again for what it removes', async t => {
  const secrets = new StoredSecrets(await connectTo(t, await startTestRedis(t)), keys)
  const put = async (name: string, tenant: string): Promise<boolean> => await secrets.put(name, { kind: 'tenant', tenant }, 'value', tenant)
  let stored = 0
  for (let at = 0; at < maxStoredSecrets; at += 50) {
    const some = await Promise.all(Array.from({ length: 50 }, async (_, place) => await put(`s${at + place}`, 'acme')))
    stored += some.filter(Boolean).length
  }
  t.equal(stored, maxStoredSecrets)
  t.equal(await put('one more', 'acme'), false)
  t.equal(await secrets.put('own', { kind: 'key', key: 'app' }, 'value', 'acme'), false, 'its keys are in the same room')
  t.equal(await put('s0', 'acme'), true, 'in place of one')
  t.equal(await put('a', 'other'), true)
  t.equal(await secrets.put('a', { kind: 'operator' }, 'value', undefined), true)
  await secrets.remove('s0', { kind: 'tenant', tenant: 'acme' })
  t.equal(await put('new', 'acme'), true)
  t.equal(await put('newer', 'acme'), false)
  await secrets.removeAllOf({ kind: 'tenant', tenant: 'acme' })
  t.equal(await put('newer', 'acme'), true)
})

void t.test('a list reads no value, however large they are, and a new key seals them one by one', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const secrets = new StoredSecrets(redis, keys)
  const value = '\u4e2d'.repeat(65_536)
  for (let at = 0; at < 60; at++) await secrets.put(`s${at}`, { kind: 'tenant', tenant: 'acme' }, value, 'acme')
  await secrets.put('small', { kind: 'tenant', tenant: 'other' }, 'value', 'other')
  const sentBy = async (work: () => Promise<unknown>): Promise<number> => {
    const sent = async (): Promise<number> => Number(/total_net_output_bytes:(\d+)/.exec(await redis.info('stats'))?.[1])
    const before = await sent()
    await work()
    return await sent() - before
  }
  t.ok(await sentBy(async () => { t.equal((await secrets.list()).length, 61) }) < 100_000)
  const reads = async (): Promise<number> => Number(/cmdstat_hget:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1])
  const once = await reads()
  await secrets.list()
  t.equal(await reads() - once, 2 * 61, 'the times of each')
  const isOther = (scope: SecretScope): boolean => scope.kind === 'tenant' && scope.tenant === 'other'
  t.match(await secrets.list(isOther), [{ name: 'small', scope: { kind: 'tenant', tenant: 'other' }, lastUsedAt: undefined }])
  const next = { current: randomBytes(32), previous: keys.current }
  t.same(await new StoredSecrets(redis, next).rotate(), { sealed: 61, lost: 0 })
  t.equal((await new StoredSecrets(redis, next).open(['s59'], { keyName: undefined, tenant: 'acme' })).get('s59'), value)
})

void t.test('a list looks through the secrets of all tenants some at a time', async t => {
  const redis = await connectTo(t, await startTestRedis(t))
  const secrets = new StoredSecrets(redis, keys)
  await secrets.put('own', { kind: 'tenant', tenant: 'acme' }, 'of acme', 'acme')
  const others = Array.from({ length: 5_000 }, (_, at) => `tenant\nother${at % 5}\nsecret${at}`)
  for (const [what, value] of Object.entries({ sealed: 'x', owners: 'other', stored: '1' })) {
    await redis.hset(`toolyard:{secrets}:${what}`, ...others.flatMap(place => [place, value]))
  }
  const names = (await secrets.list(scope => scope.kind === 'tenant' && scope.tenant === 'acme')).map(({ name }) => name)
  t.same(names, ['own'])
  t.equal((await secrets.list()).length, 5_001)
  const calls = [...(await redis.info('commandstats')).matchAll(/cmdstat_(hkeys|hgetall|hscan):calls=(\d+)/g)].map(([, name, count]) => [name, Number(count)])
  t.equal(calls.length, 1, JSON.stringify(calls))
  t.ok(calls[0]?.[0] === 'hscan' && Number(calls[0][1]) >= 8, JSON.stringify(calls))
})
