import type { CallResult } from '@toolyard/contract'
import t from 'tap'
import { programs } from '../e2e/tools.ts'
import { injectService } from '../support/injected.ts'
import { makeKeys, testKeys } from '../support/service.ts'

const echo = { description: 'Echoes', command: ['./tools/bin/echo'] }
const { keys, API_KEYS_JSON } = makeKeys({
  bound: { hosts: ['b.test:5432'] },
  acme: { tenant: 'acme' },
  both: { tenant: 'acme', hosts: ['x.a.test', 'b.test:5432'] },
  late: { tenant: 'late' }
})
const ofTenants = { acme: { hosts: ['*.a.test'] }, '*': { max_jobs: 100 } }
const { client, startWorker } = await injectService(t, {
  files: { ...programs, 'workspace/workflows.yaml': 'workflows:\n  reaching:\n    steps:\n      - tool: first\n' },
  workers: 0,
  tools: [
    { ...echo, name: 'none' },
    { ...echo, name: 'first', network: ['x.a.test'], permissions: [] },
    { ...echo, name: 'second', network: ['b.test:5432'], permissions: [] },
    { ...echo, name: 'all', permissions: ['network'] },
    { name: 'asked', description: 'Asks', http: { method: 'GET', url: 'https://y.a.test/' } }
  ],
  env: {
    TENANT_LIMITS_JSON: JSON.stringify(ofTenants),
    API_KEYS_JSON
  }
})
// It knows of a bound that the API does not.
await startWorker({ TENANT_LIMITS_JSON: JSON.stringify({ ...ofTenants, late: { hosts: [] } }) })

const names = ['none', 'first', 'second', 'all', 'asked']

async function listed (key: string): Promise<string[]> {
  const { body } = await client.request<{ tools: Array<{ function: { name: string } }> }>('/v1/agent-tools', { key })
  return body.tools.map(tool => tool.function.name).filter(name => names.includes(name))
}

async function call (name: string, key: string, args: object = {}): Promise<CallResult | undefined> {
  const { results: [result] } = await client.batch([{ call_id: 'c', name, arguments: args }], {}, key)
  return result
}

const refused = (name: string, ...hosts: string[]): object => ({ ok: false, error: { code: 'FORBIDDEN', message: `Tool '${name}' reaches hosts that are not allowed: ${hosts.join(', ')}`, details: { hosts } } })

t.test('a key that is bound to hosts neither lists nor calls tools that reach others, of any kind', async t => {
  t.strictSame(await listed(testKeys.admin), names)
  t.strictSame(await listed(keys.bound), ['none', 'second'])
  t.match(await call('first', keys.bound), refused('first', 'x.a.test'))
  t.match(await call('all', keys.bound), refused('all', '*'))
  t.match(await call('asked', keys.bound), refused('asked', 'y.a.test'))
  t.match(await call('none', keys.bound), { ok: true })
  t.match(await client.request('/v1/jobs', { key: keys.bound, body: { type: 'agentcli.first', input: {} } }), { status: 403, body: { error: { code: 'FORBIDDEN' } } })
  t.equal((await client.request('/v1/registry/tools/first', { key: keys.bound })).status, 404)
  t.match((await client.request('/v1/auth/whoami', { key: keys.bound })).body, { auth: { hosts: ['b.test:5432'] } })
  t.match(await client.request('/v1/keys', { key: keys.bound }), { status: 403 }, 'it could undo what binds it')
})

t.test('hosts of TENANT_LIMITS_JSON bound all keys of a tenant, and a key of it by its own list as well', async t => {
  t.strictSame(await listed(keys.acme), ['none', 'first', 'asked'])
  t.match(await call('second', keys.acme), refused('second', 'b.test:5432'))
  t.strictSame(await listed(keys.both), ['none', 'first'])
  t.match(await call('asked', keys.both), refused('asked', 'y.a.test'))
  t.match(await call('second', keys.both), refused('second', 'b.test:5432'))
})

t.test('a step of a workflow reaches no more than the key that submitted it', async t => {
  t.match(await call('workflow_run', keys.bound, { workflow: 'reaching' }), { ok: false, error: { message: /hosts that are not allowed: x\.a\.test/ } })
})

t.test('a worker refuses a call beyond the bound of its tenant that the API let through', async t => {
  t.ok((await listed(keys.late)).includes('first'))
  t.match(await call('first', keys.late), refused('first', 'x.a.test'))
})

t.test('keys that are made in the service have hosts too, and a list that makes no sense is refused', async t => {
  const made = await client.request<{ key: { key: string, hosts: string[] } }>('/v1/keys', { body: { name: 'stored', role: 'admin', hosts: ['*.a.test'] } })
  t.strictSame(made.body.key.hosts, ['*.a.test'])
  t.strictSame(await listed(made.body.key.key), ['none', 'first', 'asked'])
  t.match(await call('second', made.body.key.key), refused('second', 'b.test:5432'))
  for (const hosts of [['a b'], [''], 'a.test', [5], ['http://a.test'], Array<string>(101).fill('a.test')]) {
    t.match(await client.request('/v1/keys', { body: { name: 'wrong', role: 'read', hosts } }), { status: 400, body: { error: { code: 'VALIDATION_ERROR', message: /^'hosts' must be an array of at most 100 hosts/ } } })
  }
})
