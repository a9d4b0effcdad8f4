import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys, testKeys } from '../support/service.ts'
import { reach, submit } from './submission.ts'

/* What an approval is for, and whose it is. */

const { keys, API_KEYS_JSON } = makeKeys({
  approver: { role: 'approver' },
  bound: { role: 'approver', permissions: ['read_repo'] },
  acme: { tenant: 'acme' },
  desk: { name: 'acme-desk', role: 'approver', tenant: 'acme' },
  other: { name: 'other-desk', role: 'approver', tenant: 'other' }
})
const approval = 'required'
const tool = (name: string, rest: object = {}): object => ({ name, schema: { type: 'object' }, command: [`./tools/bin/${name}`], approval, ...rest })
const service = await createService(t, {
  files: {
    'tools/bin/pay': '#!/bin/sh\necho paid >> payments\nexit 1\n',
    'tools/bin/send': '#!/bin/sh\ncat order.txt\n',
    'tools/bin/fetch': '#!/bin/sh\ncat\n',
    'tools/bin/own': '#!/bin/sh\ncat\n',
    'tools/bin/slow': '#!/bin/sh\ncat\n',
    ...Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`templates/large/${index}`, 'x']))
  },
  tools: [
    tool('pay', { permissions: ['write_files'] }),
    tool('send', { schema: { type: 'object', properties: { file: { type: 'string', format: 'session-file' } } }, permissions: ['read_repo'] }),
    tool('fetch', { permissions: ['network'] }),
    tool('slow'),
    tool('own', { approval: { by: ['acme-desk', 'other-desk'] } })
  ],
  env: { API_KEYS_JSON, SESSION_TEMPLATES_DIR: 'templates' }
})
const { client } = service

interface Caller { key?: string, session?: string }

async function hold (name: string, args: object = {}, { key = testKeys.admin, ...rest }: Caller = {}): Promise<string> {
  return (await client.call(name, args, rest, key)).job_id ?? ''
}

async function approve (id: string, key: string = keys.approver): Promise<number> {
  return (await client.decide(await client.held(id), 'approve', { key })).status
}

t.test('promise 12 an approved call that fails is not tried again, however many attempts its submitter wanted', async t => {
  const { id } = await submit(client, { type: 'pay', input: {}, max_attempts: 5 })
  t.equal(await approve(id), 200)
  t.match(await reach(client, id, 'failed'), { attempts: 1, max_attempts: 1, error: { code: 'TOOL_FAILED' } })
  t.equal(readFileSync(join(service.dir, 'workspace/payments'), 'utf8'), 'paid\n')
})

t.test('who may not use a tool may not let it run either', async t => {
  const id = await hold('fetch')
  t.equal(await approve(id, keys.bound), 403)
  t.equal(await approve(await hold('pay'), keys.bound), 403)
  t.equal(await approve(id), 200)
  await reach(client, id, 'succeeded')
})

t.test('a rule may name the approvers of each tenant: nobody of another one decides, nor the operator', async t => {
  const id = await hold('own', {}, { key: keys.acme })
  t.equal(await approve(id, keys.other), 404)
  t.equal(await approve(id), 403)
  t.equal(await approve(id, keys.desk), 200)
  await reach(client, id, 'succeeded')
})

t.test('an approval names the path of a file, and not what is in it', async t => {
  const { body: { session } } = await client.request<{ session: { id: string } }>('/v1/sessions', { body: {} })
  const put = async (text: string): Promise<void> => {
    await client.request(`/v1/sessions/${session.id}/files/order.txt`, { method: 'PUT', body: text, headers: { 'content-type': 'text/plain' } })
  }
  await put('shown')
  const id = await hold('send', { file: 'order.txt' }, { session: session.id })
  await put('changed')
  t.equal(await approve(id), 200)
  t.match((await reach(client, id, 'succeeded')).result, /changed/)
})

t.test('a tenant\'s call that names a file and no session is refused, and nobody is asked about it', async t => {
  const result = await client.call('send', { file: 'order.txt' }, {}, keys.acme)
  t.match(result, { ok: false, error: { code: 'INVALID_ARGUMENTS', message: /file.*session/ } })
  t.notOk('job_id' in result)
  t.match(await client.call('send', {}, {}, keys.acme), { pending: true }, 'without a file it is held')
})

t.test('promise 12 a program that changes while the session of its approved call is made ready does not run', async t => {
  const { body: { session } } = await client.request<{ session: { id: string } }>('/v1/sessions', { body: { from: 'large' } })
  const id = await hold('slow', {}, { session: session.id })
  const [worker] = service.workers
  const isMade = (): boolean => readdirSync(service.dir, { recursive: true }).some(name => name.toString().startsWith('sessions/') && name.includes(session.id))
  t.equal(await approve(id), 200)
  await waitFor('its session is being made ready', isMade)
  worker?.child.kill('SIGSTOP')
  writeFileSync(join(service.dir, 'tools/bin/slow'), '#!/bin/sh\necho swapped-program\n')
  worker?.child.kill('SIGCONT')
  const seen = await waitFor('it is held again, or ran as it was', async () => {
    const now = await client.held(id)
    return (now.approval.changed !== null || now.status === 'succeeded') && now
  })
  if (seen.status === 'held') t.match(seen.approval.changed, /program changed/)
  t.notMatch((await client.request(`/v1/jobs/${id}`)).text, /swapped-program/)
})
