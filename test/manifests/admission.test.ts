import fc from 'fast-check'
import t, { type Test } from 'tap'
import { admitCall, admitTool, type AskedCall, type Deployment, type Refusal, type Registry } from '@toolyard/manifests'
import { entry, load, loadLayers } from './fixture.ts'

const deployment: Deployment = { jobTypes: { get: () => ({}) }, permissions: { allowed: ['read_repo', 'write_files'], defaults: ['read_repo'] } }
const schema = { type: 'object', properties: { word: { type: 'string' }, times: { type: 'integer', default: 1 } }, required: ['word'], additionalProperties: false }

/** Faults of a call, in the order in which they are reported. */
const wrongs = ['unknown', 'disabled', 'unavailable', 'queue', 'permissions', 'arguments'] as const
type Wrong = (typeof wrongs)[number]

const refusals: Record<Wrong, Refusal> = {
  unknown: { code: 'UNKNOWN_TOOL', message: "Tool 'probe' not found in registry" },
  disabled: { code: 'JOB_TYPE_DISABLED', message: "Job type 'agentcli.probe' is disabled" },
  unavailable: { code: 'TOOL_UNAVAILABLE', message: "Tool 'probe' can't run: nobody has it" },
  queue: { code: 'FORBIDDEN', message: "Queue 'other' is not allowed for this API key.", details: { allowed_queues: ['own'] } },
  permissions: { code: 'FORBIDDEN', message: "Tool 'probe' needs permissions that are not allowed: network", details: { permissions: ['network'] } },
  arguments: { code: 'INVALID_ARGUMENTS', message: 'Arguments do not fit the schema: /word must be string', details: { issues: [{ path: '/word', message: 'must be string' }] } }
}

/** Decides about a call with these things wrong. */
async function decide (registry: Registry, wrong: ReadonlySet<Wrong>): Promise<Awaited<ReturnType<typeof admitCall>>> {
  const found = registry.get('probe')
  if (found === undefined) throw new Error('the tool was refused')
  const tool = {
    ...found.tool,
    enabled: !wrong.has('disabled'),
    ...(wrong.has('unavailable') ? { unavailable: 'nobody has it' } : {}),
    ...(wrong.has('permissions') ? { permissions: ['read_repo', 'network'] as const } : {})
  }
  const call: AskedCall = {
    tool: 'probe',
    registered: wrong.has('unknown') ? undefined : { ...found, tool },
    queue: wrong.has('queue') ? 'other' : 'own',
    key: { queues: ['own'] }
  }
  return await admitCall(call, { word: wrong.has('arguments') ? 5 : 'x', times: null }, deployment)
}

const probe = async (t: Test): Promise<Registry> => await load(t, entry({ schema }))

t.test('a valid call may run, and its arguments come back with defaults and without nulls that stand for none', async t => {
  t.match(await decide(await probe(t), new Set()), { arguments: { word: 'x', times: 1 }, registered: { tool: { name: 'probe' } } })
})

for (const wrong of wrongs) {
  t.test(`the reason of a refusal is given: ${wrong}`, async t => {
    t.strictSame(await decide(await probe(t), new Set([wrong])), { kind: 'refused', error: refusals[wrong] })
  })
}

t.test('of several reasons the first in order is given', async t => {
  const registry = await probe(t)
  await t.resolves(fc.assert(fc.asyncProperty(fc.subarray([...wrongs], { minLength: 1 }), async wrong => {
    const decided = await decide(registry, new Set(wrong))
    const first = wrong[0] as Wrong
    return decided.kind === 'refused' && decided.error.message === refusals[first].message
  })))
})

t.test('the queue in a workflow\'s arguments is checked once the arguments are valid', async t => {
  const registered = (await loadLayers(t, [], true)).get('workflow_run')
  const call: AskedCall = { tool: 'workflow_run', registered, queue: 'own', key: { queues: ['own'] } }
  const everything: Deployment = { ...deployment, permissions: { allowed: ['read_repo', 'write_files', 'network'], defaults: [] } }
  t.strictSame(await admitCall(call, { workflow: 'w', queue: 'other' }, everything), { kind: 'refused', error: refusals.queue })
  t.match(await admitCall(call, { workflow: 5, queue: 'other' }, everything), { error: { code: 'INVALID_ARGUMENTS' } })
  t.match(await admitCall(call, { workflow: 'w', queue: 'own' }, everything), { arguments: { workflow: 'w', queue: 'own' } })
  t.match(await admitCall({ ...call, key: {} }, { workflow: 'w', queue: 'other' }, everything), { arguments: { queue: 'other' } })
})

t.test('a switch of the job type wins over the manifest, in both directions', async t => {
  const registry = await load(t, entry(), entry({ name: 'off', enabled: false }))
  const switched = (enabled: boolean): Deployment => ({ ...deployment, jobTypes: { get: () => ({ enabled }) } })
  t.match(admitTool({ tool: 'off', registered: registry.get('off'), key: {} }, switched(true)), { registered: {} })
  t.match(admitTool({ tool: 'probe', registered: registry.get('probe'), key: {} }, switched(false)), { error: { code: 'JOB_TYPE_DISABLED' } })
})

t.test('P18 the permissions of the key bound those of the tool, as those of the deployment do', async t => {
  const registered = (await load(t, entry({ permissions: ['read_repo', 'write_files'] }))).get('probe')
  t.match(admitTool({ registered, key: {} }, deployment), { registered: {} })
  t.match(admitTool({ registered, key: { permissions: ['read_repo'] } }, deployment), { error: { code: 'FORBIDDEN', details: { permissions: ['write_files'] } } })
})

t.test('a call that is already in its queue, and a key that is not bound to queues, may use any queue', async t => {
  const registered = (await probe(t)).get('probe')
  t.match(admitTool({ registered, key: { queues: ['own'] } }, deployment), { registered: {} })
  t.match(admitTool({ registered, queue: 'other', key: {} }, deployment), { registered: {} })
})

t.test('an unknown job type is refused as such', async t => {
  t.strictSame(admitTool({ type: 'agentcli.nothing', registered: undefined, key: {} }, deployment), { kind: 'refused', error: { code: 'UNKNOWN_TOOL', message: "No tool has the job type 'agentcli.nothing'" } })
})

t.test('the event loop gets a turn before the arguments are checked again without their nulls', async t => {
  const found = (await probe(t)).get('probe')
  if (found === undefined) throw new Error('the tool was refused')
  const seen: string[] = []
  const registered = { ...found, check: async (args: Record<string, unknown>) => { seen.push('check'); return await found.check(args) } }
  setImmediate(() => seen.push('turn'))
  await admitCall({ registered, key: {} }, { word: 'x', times: null }, deployment)
  t.strictSame(seen, ['check', 'turn', 'check'])
})
