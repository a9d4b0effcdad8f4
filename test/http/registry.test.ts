import type { JobTypeList, ToolOverview, ToolResponse } from '@toolyard/contract'
import type { Static } from 'typebox'
import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { waitFor } from '../support/condition.ts'
import { injectService } from '../support/injected.ts'
import { makeKeys, testKeys } from '../support/service.ts'

type Shown = Static<typeof ToolResponse>['tool']
const { keys, API_KEYS_JSON } = makeKeys({ read: { permissions: ['read_repo'] }, acme: { tenant: 'acme' } })
const { client, dir } = await injectService(t, {
  workers: 0,
  files: {
    ...programs,
    'over.json': JSON.stringify({
      tools: [
        { name: 'echo', description: 'Another echo', schema: { type: 'object' }, command: ['./tools/bin/echo'], permissions: ['network'], timeoutSec: 7 },
        { name: 'listed', command: ['./tools/bin/echo'], schema: { type: 'object' }, permissions: [], network: ['b.example:8443', 'a.example'] },
        { name: 'rates', http: { method: 'GET', url: 'https://rates.example/v1/{day}' }, schema: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] } }
      ]
    }),
    'broken.json': '{"tools": [\n  {"name": "broken",}\n]}'
  },
  tools: entries,
  manifests: ['tools.json', 'over.json', 'broken.json'],
  env: { API_KEYS_JSON }
})
const overview = async (key?: string): Promise<ToolOverview> => (await client.request<ToolOverview>('/v1/registry', key === undefined ? {} : { key })).body
const read = async (name: string, key?: string): Promise<Shown> => (await client.request<{ tool: Shown }>(`/v1/registry/${name}`, key === undefined ? {} : { key })).body.tool

t.test('an operator sees each tool with its manifest, and what is wrong with the manifests', async t => {
  const { tools, count, findings } = await overview()
  t.equal(tools.length, count)
  t.match(tools.find(({ name }) => name === 'echo'), {
    type: 'agentcli.echo', description: 'Another echo', format: 'agentcli', runs: 'command', enabled: true, unavailable: null, permissions: ['network'], file: `${dir}/over.json`
  })
  t.ok(tools.some(({ format }) => format === 'builtin'))
  const finding = findings.find(({ file }) => file === `${dir}/broken.json`)
  t.match(finding, { severity: 'error', line: 2 })
})

t.test('the page of a tool has its schema, its limits, and which manifest replaced it', async t => {
  const tool = await read('echo')
  t.match(tool, { parameters: { type: 'object' }, timeout_sec: 7, max_attempts: 1 })
  t.match(tool.steps.map(({ file, did }) => [file, did]), [[`${dir}/tools.json`, 'declared'], [`${dir}/over.json`, 'replaced']])
  t.equal((await client.request('/v1/registry/nothing')).status, 404)
})

t.test('an operator sees which hosts a tool may reach, and other keys do not', async t => {
  const hosts = async (name: string, key?: string): Promise<unknown> => (await read(name, key)).hosts
  t.same(await hosts('listed'), ['a.example', 'b.example:8443'])
  t.same((await read('listed')).permissions, ['network'], 'a list of hosts is the permission network for these')
  t.same(await hosts('rates'), ['rates.example'])
  t.same(await hosts('echo'), ['*'])
  t.same(await hosts('data_file_read'), [])
  for (const name of ['listed', 'rates', 'echo', 'data_file_read']) t.equal(await hosts(name, keys.acme), null, name)
})

t.test('a tool that was switched off is still listed, as switched off', async t => {
  await client.request('/v1/job-types/agentcli.echo', { method: 'PATCH', body: { enabled: false } })
  await waitFor('it is off', async () => !(await read('echo')).enabled)
  t.equal((await overview()).tools.find(({ name }) => name === 'echo')?.enabled, false)
  await client.request('/v1/job-types/agentcli.echo', { method: 'PATCH', body: { enabled: true } })
})

t.test('keys of tenants and read keys see no file, and no tool beyond their permissions', async t => {
  for (const key of [keys.acme, testKeys.read]) {
    const { tools, findings } = await overview(key)
    const { types } = (await client.request<JobTypeList>('/v1/job-types', { key })).body
    t.strictSame(types.filter(({ name }) => !tools.some(({ type }) => type === name)), [], 'nor its job type')
    t.same(findings, [])
    t.notMatch(JSON.stringify(tools), dir)
    t.ok(tools.every(({ file }) => file === null))
  }
  t.same((await read('echo', keys.acme)).steps, [])
  t.equal((await client.request('/v1/registry/echo', { key: testKeys.read })).status, 404)
  t.notOk((await overview(testKeys.read)).tools.some(({ name }) => name === 'echo'))
})
