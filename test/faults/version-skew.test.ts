import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createClient } from '../support/client.ts'
import { createService, type Service } from '../support/service.ts'
import { list } from '../jobs/submission.ts'

/** Tells which worker's tool it is. */
const programs = {
  'tools/bin/old': '#!/bin/sh\ncat > /dev/null\necho \'"old"\'\n',
  'tools/bin/new': '#!/bin/sh\ncat > /dev/null\necho \'"new"\'\n'
}
const entry = (name: string, program: string, schema: object = { type: 'object' }, rest: object = {}): object => ({ name, schema, command: [`./tools/bin/${program}`], ...rest })
const word = { type: 'object', properties: { word: { type: 'string' } }, additionalProperties: false }
const wordAndCount = { type: 'object', properties: { word: { type: 'string' }, count: { type: 'integer', default: 1 } }, additionalProperties: false }

const keys = JSON.stringify([
  { name: 'whole', key: 'test-admin-key-0123456789', role: 'admin' },
  { name: 'reader', key: 'test-reading-key-0123456789', role: 'admin', permissions: ['read_repo'] }
])

/** A service whose API has the new manifest and whose workers have the old one, or the one that `workers` names. */
async function startRollout (t: Parameters<typeof createService>[0], tools: { old: object[], new: object[] }, workers: Array<'old' | 'new'>): Promise<Service> {
  const service = await createService(t, { files: programs, tools: tools.new, workers: 0, env: { API_KEYS_JSON: keys } })
  for (const name of ['old', 'new'] as const) writeFileSync(join(service.dir, `${name}.json`), JSON.stringify({ tools: tools[name] }))
  for (const name of workers) service.workers.push(await service.startWorker({ TOOL_MANIFESTS: join(service.dir, `${name}.json`) }))
  return service
}

void t.test('a call of a tool that only some workers have goes to one of them', async t => {
  const service = await startRollout(t, { old: [], new: [entry('fresh', 'new')] }, ['old', 'old', 'new'])
  const calls = Array.from({ length: 20 }, (_, index) => ({ call_id: `c${index}`, name: 'fresh', arguments: {} }))
  await service.client.call('fresh', {}, { wait_ms: 60_000 })
  const { results } = await service.client.batch(calls, { wait_ms: 60_000 })
  t.same(results.map(({ output }) => output), calls.map(() => 'new'))
  const { jobs } = await list(service.client, '?type=agentcli.fresh')
  t.same(jobs.map(({ attempts }) => attempts), [...calls, {}].map(() => 1), 'being passed on is no attempt')
})

void t.test('a call that was checked against a new schema goes to a worker with that schema', async t => {
  const service = await startRollout(t, { old: [entry('greet', 'old', word)], new: [entry('greet', 'new', wordAndCount)] }, ['old', 'new'])
  const calls = Array.from({ length: 10 }, (_, index) => ({ call_id: `c${index}`, name: 'greet', arguments: { word: 'x' } }))
  const { results } = await service.client.batch(calls, { wait_ms: 60_000 })
  t.same(results.map(({ output }) => output), calls.map(() => 'new'))
})

void t.test('when no worker has the version, a missing tool and arguments that do not fit give clear errors', async t => {
  const service = await startRollout(t, { old: [entry('greet', 'old', word)], new: [entry('fresh', 'new'), entry('greet', 'new', wordAndCount)] }, ['old'])
  t.same((await service.client.call('fresh')).error, { code: 'UNKNOWN_TOOL', message: "Tool 'fresh' not found in registry (the worker's manifests are not those that the call was taken with)" })
  const { error } = await service.client.call('greet', { word: 'x' })
  t.match(error, { code: 'INVALID_ARGUMENTS', message: /^Arguments do not fit the schema: \/count .*the worker's manifests are not those/, details: { issues: [{ message: /count/ }] } })
})

void t.test('when no worker has the version, arguments that fit the worker\'s own schema run', async t => {
  const service = await startRollout(t, { old: [entry('greet', 'old', wordAndCount)], new: [entry('greet', 'new', word)] }, ['old'])
  t.match(await service.client.call('greet', { word: 'x' }), { ok: true, output: 'old' })
})

void t.test('a worker whose version of a tool may do more than the key allows does not run it', async t => {
  const service = await startRollout(t, {
    old: [entry('greet', 'old', word, { permissions: ['read_repo', 'network'] })],
    new: [entry('greet', 'new', word, { permissions: ['read_repo'] })]
  }, ['old'])
  t.match((await createClient(service.api.address, 'test-reading-key-0123456789').call('greet', { word: 'x' })).error, { code: 'FORBIDDEN', message: /network/ })
  t.match(await service.client.call('greet', { word: 'x' }), { ok: true, output: 'old' })
})

void t.test('a tool that was added a moment ago runs, though its worker has not looked at the manifest yet', async t => {
  const service = await createService(t, { files: programs, tools: [] })
  for (const nth of [1, 2, 3]) {
    writeFileSync(join(service.dir, 'tools.json'), JSON.stringify({ tools: Array.from({ length: nth }, (_, index) => entry(`t${index + 1}`, 'new')) }))
    await waitFor('the API has it', async () => (await service.client.request('/v1/agent-tools')).text.includes(`"t${nth}"`))
    t.equal((await service.client.call(`t${nth}`)).output, 'new')
  }
})
