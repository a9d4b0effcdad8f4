import { orElse } from '@toolyard/contract/terms'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { CallResult, InvokeBatchResponse, SessionView } from '@toolyard/contract'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys } from '../support/service.ts'

t.setTimeout(300_000)

const { keys, API_KEYS_JSON } = makeKeys({ acme: { tenant: 'acme' }, other: { tenant: 'other' } })
const tenants = ['acme', 'other'] as const
const sessionsOfTenant = 100
/** Files that lie in the template. */
const templateFiles = 3_000
const wordOf = (field: string): string => `$(printf %s "$line" | sed -e 's/.*"${field}":"\\([^"]*\\)".*/\\1/')`
const tools = {
  env: {
    SESSION_TEMPLATES_DIR: 'templates',
    API_KEYS_JSON
  },
  files: {
    // Writes its words to a file of its own, and tells what is in all files that it sees.
    'tools/bin/note': `#!/bin/sh\nread -r line\necho "${wordOf('text')}" > "${wordOf('name')}"\ncat -- *\n`,
    'tools/bin/once': `#!/bin/sh\nread -r line\necho "${wordOf('text')}" >> once\necho done\n`,
    'tools/bin/count': '#!/bin/sh\ncat > /dev/null\nls | wc -l\n'
  },
  tools: [
    { name: 'note', schema: { type: 'object' }, command: ['./tools/bin/note'], idempotent: true },
    { name: 'once', schema: { type: 'object' }, command: ['./tools/bin/once'] },
    { name: 'count', schema: { type: 'object' }, command: ['./tools/bin/count'], idempotent: true }
  ]
}

void t.test('200 sessions of two tenants under load, with workers being killed, lose nothing and share nothing', async t => {
  const service = await createService(t, { ...tools, workers: 3 })
  const { client } = service
  const sessions = (await Promise.all(tenants.flatMap(tenant => Array.from({ length: sessionsOfTenant }, async () => {
    const { body } = await client.request<{ session: SessionView }>('/v1/sessions', { body: {}, key: keys[tenant] })
    return { id: body.session.id, tenant }
  }))))
  let answered = 0

  /** The same key gets the same jobs: so what is still pending is waited for. */
  async function callIn ({ id, tenant }: typeof sessions[number]): Promise<CallResult[]> {
    const calls = [
      { call_id: '1', name: 'note', arguments: { name: 'first', text: `${id} first` } },
      { call_id: '2', name: 'once', arguments: { text: `${id} once` } },
      { call_id: '3', name: 'note', arguments: { name: 'last', text: `${id} last` } }
    ]
    return await waitFor(`the calls of session ${id} are answered`, async () => {
      const { body } = await client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', {
        body: { calls, session: id, wait_ms: 30_000 }, key: keys[tenant], headers: { 'idempotency-key': id }
      })
      if (body.results.some(({ pending }) => pending === true)) return undefined
      answered += 1
      return body.results
    }, 200_000)
  }

  async function killAfter (batches: number, nth: number): Promise<void> {
    await waitFor(`${batches} batches are answered`, () => answered >= batches, 200_000)
    await service.workers[nth]?.stop('SIGKILL')
    await service.startWorker()
  }

  // Two kills: a job is given up after three.
  const [results] = await Promise.all([Promise.all(sessions.map(callIn)), killAfter(20, 0), killAfter(80, 1)])

  for (const [index, { id }] of sessions.entries()) {
    const [first, once, last] = results[index] ?? []
    const dir = join(service.dir, 'sessions', id)
    for (const answer of [first, last]) {
      if (answer?.ok !== true) t.fail(`a call of session ${id} was lost: ${JSON.stringify(answer?.error)}`)
      const foreign = String(answer?.output).trim().split('\n').filter(line => !line.startsWith(id))
      if (foreign.length > 0) t.fail(`session ${id} saw ${foreign.join()}`)
    }
    if (once?.ok !== true && once?.error?.code !== 'WORKER_LOST') t.fail(`a call that runs once ended with ${JSON.stringify(once?.error)}`)
    const contents = Object.fromEntries(readdirSync(dir).map(name => [name, readFileSync(join(dir, name), 'utf8')]))
    const runs = contents['once'] === undefined ? 0 : contents['once'].split('\n').length - 1
    if (once?.ok === true ? runs !== 1 : runs > 1) t.fail(`a call that runs once ran ${runs} times`)
    delete contents['once']
    t.strictSame(contents, { first: `${id} first\n`, last: `${id} last\n` })
  }

  for (const tenant of tenants) {
    const own = new Set(sessions.filter(session => session.tenant === tenant).map(({ id }) => id))
    const { body: { sessions: listed } } = await client.request<{ sessions: SessionView[] }>('/v1/sessions?limit=200', { key: keys[tenant] })
    t.strictSame(new Set(listed.map(({ id }) => id)), own, `${tenant} lists its sessions, and no other`)
    const foreign = sessions.filter(session => session.tenant !== tenant)
    const answers = await Promise.all(foreign.map(async ({ id }) => (await client.request(`/v1/sessions/${id}/files/first`, { key: keys[tenant] })).status))
    t.ok(answers.every(status => status === 404), `for ${tenant} no other session is there`)
  }
})

void t.test('a worker that dies while it makes a session leaves nothing half made, and another one makes it whole', async t => {
  const service = await createService(t, tools)
  const { client } = service
  const template = join(service.dir, 'templates/large')
  mkdirSync(template, { recursive: true })
  for (let file = 0; file < templateFiles; file++) writeFileSync(join(template, String(file)), '')
  const { body: { session: { id } } } = await client.request<{ session: SessionView }>('/v1/sessions', { body: { from: 'large' } })
  const answer = client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', {
    body: { calls: [{ call_id: 'c', name: 'count' }], session: id, wait_ms: 60_000 }
  })
  const base = join(service.dir, 'sessions')
  await waitFor('it is being made', () => namesIn(join(base, '.making')).length > 0 || namesIn(base).includes(id))
  await service.workers[0]?.stop('SIGKILL')
  await service.startWorker()
  t.match((await answer).body.results, [{ ok: true, output: templateFiles }])

  t.equal((await client.request(`/v1/sessions/${id}`, { method: 'DELETE' })).status, 202)
  await waitFor('nothing of it is left', () => !namesIn(base).includes(id) && namesIn(join(base, '.making')).length === 0 && namesIn(join(base, '.trash')).length === 0, 60_000)
})

void t.test('a worker that dies while it removes a session leaves the rest to another one', async t => {
  const service = await createService(t, tools)
  const { client } = service
  const { body: { session: { id } } } = await client.request<{ session: SessionView }>('/v1/sessions', { body: {} })
  await client.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'c', name: 'count' }], session: id } })
  const base = join(service.dir, 'sessions')
  for (let file = 0; file < 4 * templateFiles; file++) writeFileSync(join(base, id, String(file)), '')
  await client.request(`/v1/sessions/${id}`, { method: 'DELETE' })
  await waitFor('it is being removed', () => !namesIn(base).includes(id), 60_000)
  await service.workers[0]?.stop('SIGKILL')
  await service.startWorker()
  await waitFor('all of it is removed', () => namesIn(join(base, '.trash')).length === 0, 60_000)
  await waitFor('it is forgotten', async () => (await client.request(`/v1/sessions/${id}`)).status === 404, 60_000)
})

function namesIn (dir: string): string[] {
  return orElse(() => readdirSync(dir), [])
}
