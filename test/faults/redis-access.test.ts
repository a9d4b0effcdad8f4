import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { post, reach, submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { leastPrivileges } from '../support/redis-acl.ts'
import type { Cleanup } from '../support/cleanup.ts'
import { startRedisProcess } from '../support/redis-process.ts'
import { makeCertificates } from '../support/certificates.ts'
import { startProcesses } from '../support/service.ts'
import { callUntilServed, roundTools, runJobRound } from './job-round.ts'

t.setTimeout(300_000)

void t.test('jobs go through a Redis with TLS and certificates on both sides, also after all of them were renewed', async t => {
  const dir = t.testdir()
  makeCertificates(dir, 'redis')
  const path = (name: string): string => join(dir, name)
  const server = await startRedisProcess(t, {
    client: { password: 'a secret', tls: { get ca () { return readFileSync(path('ca.pem')) }, get cert () { return readFileSync(path('redis.pem')) }, get key () { return readFileSync(path('redis.key')) } } },
    args: async (port, data) => ['--port', '0', '--tls-port', String(port), '--bind', '127.0.0.1', '--dir', data, '--logfile', join(data, 'redis.log'), '--save', '',
      '--requirepass', 'a secret', '--tls-cert-file', path('redis.pem'), '--tls-key-file', path('redis.key'), '--tls-ca-cert-file', path('ca.pem')]
  })
  const service = await startProcesses(t, {
    REDIS_URL: `rediss://localhost:${server.port}`,
    REDIS_PASSWORD: 'a secret',
    REDIS_TLS_CA: path('ca.pem'),
    REDIS_TLS_CERT: path('redis.pem'),
    REDIS_TLS_KEY: path('redis.key')
  }, roundTools)
  await runJobRound(t, service)
  await server.kill()
  // The keys go before their certificates, so that for a moment they don't fit.
  for (const name of ['redis.key', 'redis.pem', 'ca.pem']) rmSync(path(name))
  makeCertificates(dir, 'redis')
  await server.start()
  await callUntilServed(t, service, 'default')
})

void t.test('jobs go through a Redis whose user has only the rights of docs/redis.md', async t => {
  const server = await startRedisProcess(t)
  await server.client.call('ACL', 'SETUSER', ...leastPrivileges('a secret'))
  await server.client.call('ACL', 'SETUSER', 'default', 'off')
  const service = await startProcesses(t, { REDIS_URL: `redis://toolyard:a%20secret@127.0.0.1:${server.port}` }, roundTools)
  await runJobRound(t, service)
  const output = (await Promise.all([service.api, ...service.workers].map(app => app.output()))).join('')
  t.notMatch(output, /NOPERM/)
  t.notMatch(output, /a secret|a%20secret/)
})

void t.test('while the user of the service lacks rights, requests are a 503 that says so, and a call that ends then keeps its outcome', async t => {
  const server = await startRedisProcess(t)
  const [name = '', ...rules] = leastPrivileges('a secret')
  const acl = async (...words: string[]): Promise<unknown> => await server.client.call('ACL', ...words)
  await acl('SETUSER', name, ...rules)
  const service = await startProcesses(t, { REDIS_URL: `redis://toolyard:a%20secret@127.0.0.1:${server.port}` }, {
    tools: [{ name: 'waits', schema: { type: 'object' }, command: ['./tools/bin/waits'] }],
    files: { 'tools/bin/waits': '#!/bin/sh\necho >> begun\nuntil [ -e go ]; do sleep 0.05; done\necho \'{"done":true}\'\necho > ended\n' }
  })
  const file = (of: string): string => join(service.dir, 'workspace', of)
  const refusals = async (): Promise<number> => (await acl('LOG') as Array<[name: string, count: number]>).reduce((sum, [, count]) => sum + count, 0)
  for (const less of ['-@write', 'resetkeys']) {
    const job = await submit(service.client, { type: 'agentcli.waits' })
    await waitFor('it runs', () => existsSync(file('begun')))
    await acl('SETUSER', name, less)
    const answer = await service.client.request('/v1/jobs', { body: { type: 'agentcli.waits' } })
    t.match(answer, { status: 503, body: { error: { code: 'UNAVAILABLE', message: /NOPERM.*docs\/redis\.md/ } } }, less)
    writeFileSync(file('go'), '')
    await waitFor('it ends', () => existsSync(file('ended')))
    await acl('LOG', 'RESET')
    await waitFor('Redis refuses its end, and what is asked again and again', async () => await refusals() >= 40)
    await acl('SETUSER', name, ...rules)
    t.match(await reach(service.client, job.id, 'succeeded', 'failed'), { status: 'succeeded', attempts: 1 }, less)
    t.equal(readFileSync(file('begun'), 'utf8'), '\n')
    for (const made of ['begun', 'go', 'ended']) rmSync(file(made))
  }
  const output = (await Promise.all([service.api, ...service.workers].map(app => app.output()))).join('')
  const texts = [...output.matchAll(/"process":"(\w+)","err":.*?"message":"(.*?)".*"queue":"(.*?)"/g)].map(([, ...parts]) => parts.join(': '))
  t.ok(texts.length > 0)
  t.same(texts.filter((text, at) => texts.indexOf(text) < at), [], 'each is told once')
})

/** A server that knows a command no more. */
async function startWithout (t: Cleanup, command: string): ReturnType<typeof startRedisProcess> {
  return await startRedisProcess(t, {
    args: async (port, dir) => ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--appendonly', 'yes', '--rename-command', command, '']
  })
}

void t.test('a Redis that may not be asked for the time is refused at the start, in words that say so', async t => {
  const server = await startRedisProcess(t)
  await server.client.call('ACL', 'SETUSER', ...leastPrivileges('a secret').filter(rule => rule !== '+time'))
  const renamed = await startWithout(t, 'time')
  for (const place of [`toolyard:a%20secret@127.0.0.1:${server.port}`, `127.0.0.1:${renamed.port}`]) {
    const starting = startProcesses(t, { REDIS_URL: `redis://${place}` }, { workers: 0 })
    await t.rejects(starting, /ended with 1:[\s\S]*refuses to work on this Redis[\s\S]*may not use TIME.*docs\/redis\.md/, place)
  }
})

void t.test('a request that needs a command which Redis does not know is a 503 that says so', async t => {
  const server = await startWithout(t, 'publish')
  const { client } = await startProcesses(t, { REDIS_URL: `redis://127.0.0.1:${server.port}` }, { workers: 0 })
  const answer = await post(client, { type: 'data.file_read', input: { path: 'README.md' } })
  t.match(answer, { status: 503, body: { error: { code: 'UNAVAILABLE', message: /no command of this name \(rename-command\): docs\/redis\.md/ } } })
})

void t.test('while Redis can\'t save, or lacks replicas, requests and /ready say so, and all goes on when it can', async t => {
  const server = await startRedisProcess(t, { config: { save: '3600 1' } })
  const service = await startProcesses(t, { REDIS_URL: `redis://127.0.0.1:${server.port}` }, roundTools)
  const refused = async (answer: string): Promise<void> => {
    const { status, body } = await service.client.request('/v1/jobs', { body: { type: 'agentcli.echo' } })
    t.match({ status, body }, { status: 503, body: { error: { code: 'UNAVAILABLE', message: `Redis is not available: it answers ${answer}` } } })
  }
  // Snapshots are written to its directory; the append-only file is open already.
  rmSync(server.dir, { recursive: true })
  await server.client.call('BGSAVE')
  await waitFor('it could not save', async () => /rdb_last_bgsave_status:err/.test(await server.client.info('persistence')))
  await refused('MISCONF')
  const ready = await service.client.request('/ready')
  t.match(ready, { status: 503, body: { checks: { redis: { ok: false, detail: 'Redis is not available: it answers MISCONF' } } } })
  await server.client.config('SET', 'stop-writes-on-bgsave-error', 'no')
  await server.client.config('SET', 'min-replicas-to-write', '1')
  await refused('NOREPLICAS')
  await server.client.config('SET', 'min-replicas-to-write', '0')
  await runJobRound(t, service)
})
