import { attentionOf, barsOf, columnsOf, lastLine, placeSteps, withHistory, withReading } from '@toolyard/console'
import fc from 'fast-check'
import t from 'tap'

const queue = { name: 'reports', paused: false, waiting: 0, delayed: 0, blocked: 0, held: 0, running: 0, oldest_sec: 0, workers: 1, places: 4 }
const worker = {
  id: 'w',
  host: 'node-1',
  version: '0.1.0',
  queues: ['*'],
  places: { used: 0, total: 4, per_queue: 4, all_queues: null },
  sandbox: { level: 'full' as const, missing: [] },
  load: { average: 1, processors: 2, memory_bytes: 1 },
  started_at: '',
  shortage: null,
  state: 'working' as const,
  ran: 0,
  last_seen_at: ''
}
const quantiles = { p50: 1, p95: 2 }
const called = (name: string, calls: number, errors: number): object =>
  ({ name, calls, errors, cancelled: 0, waiting_ms: quantiles, running_ms: quantiles, error_rate: errors / calls, calls_per_minute: 1 })
const textsOf = (situation: Parameters<typeof attentionOf>[0]): string[] => attentionOf(situation).map(({ text }) => text)

t.test('the overview lists what needs attention, the worst first, and nothing else', async t => {
  t.same(textsOf({}), [])
  t.same(textsOf({ queues: [{ ...queue, waiting: 3, oldest_sec: 5, running: 4 }], workers: [worker], lost: 0 }), [])
  t.same(attentionOf({ queues: [{ ...queue, waiting: 3, oldest_sec: 300, workers: 0 }], workers: [worker] }), [{
    severity: 'bad',
    text: 'Queue reports stands still: no worker serves it.',
    advice: '3 jobs wait, the oldest for 5 min. Start a worker whose WORKER_QUEUES has reports or *, or cancel what waits.',
    href: '#/jobs?queue=reports&status=queued'
  }])
  t.match(attentionOf({ queues: [{ ...queue, running: 2, workers: 0 }], workers: [{ ...worker, queues: ['other'] }] }), [{
    severity: 'bad', text: 'No worker serves queue reports, though 2 jobs are running there.', href: '#/jobs?queue=reports&status=running'
  }])
  t.match(attentionOf({ queues: [{ ...queue, waiting: 1, paused: true }], workers: [worker] }), [
    { text: 'Queue reports is paused.', href: '#/jobs?queue=reports&status=queued', resumes: 'reports' }
  ])
  t.match(attentionOf({ queues: [{ ...queue, paused: true }], workers: [worker] }), [{ severity: 'warn', text: 'Queue reports is paused.', advice: /Nothing waits in it yet/, resumes: 'reports' }])
  t.same(textsOf({ queues: [{ ...queue, waiting: 1, oldest_sec: 90 }], workers: [worker] }), ['Queue reports stands still, though 1 worker serves it.'])
  const loaded = { ...worker, load: { ...worker.load, average: 5 } }
  t.same(textsOf({ queues: [{ ...queue, waiting: 9, oldest_sec: 90, running: 4 }], workers: [loaded], lost: 2 }), [
    '2 jobs lost their worker in the last 15 min.', 'Queue reports lags.', 'Worker node-1 has too much to do.'
  ])
  t.same(textsOf({ queues: [{ ...queue, waiting: 1, workers: 0 }], workers: [] }), ['No worker is alive: 1 job waits.'])
  const gone = { id: 'g', host: 'node-2', last_seen_at: '2026-01-01T00:00:00.000Z' }
  t.same(textsOf({ workers: [worker], lostWorkers: [gone] }), ['Worker node-2 went away.'])
  t.same(textsOf({ lostWorkers: [gone, { ...gone, host: null }] }), ['2 workers went away, the last of them node-2.'])
  t.match(attentionOf({ asking: 2 }), [{ text: '2 jobs wait for an answer.', href: '#/jobs?status=input_required' }])
  t.same(textsOf({ asking: 0 }), [])
  t.same(textsOf({ workers: [{ ...worker, shortage: 'ENOSPC' }] }), ['Worker node-1 takes no jobs: it can\'t start processes (ENOSPC).'])
  t.same(textsOf({ workers: [{ ...worker, sandbox: { level: 'none', missing: ['bwrap'] } }] }), ['Worker node-1 runs tools without a sandbox.'])
  t.match(attentionOf({ workers: [worker, { ...worker, state: 'draining', places: { ...worker.places, used: 2 } }] }), [{ text: 'Worker node-1 is being drained.', advice: /ends what it runs: 2 calls/ }])
  t.same(textsOf({ queues: [{ ...queue, waiting: 1, workers: 0 }], workers: [{ ...worker, state: 'drained' }] }), ['Queue reports stands still: its workers are drained.', 'Worker node-1 is drained.'])
  const tools = [called('good', 100, 2), called('bad', 4, 3), called('rare', 1, 1)] as never
  t.same(textsOf({ statistics: { tools } }), ['Tool bad fails: 3 of its last 4 calls.'])
  const tool = { name: 'gone', type: 'x', description: '', format: '', runs: '', enabled: true, unavailable: 'no such program', permissions: [], file: null }
  const finding = { severity: 'error' as const, file: 'a.json', line: 3, column: 1, tool: null, rule: 'X', message: 'is wrong', fix: null }
  t.match(attentionOf({ registry: { tools: [tool, { ...tool, enabled: false }], findings: [finding] } }), [
    { text: "Tool gone can't run.", advice: 'no such program' }, { text: 'The manifests have 1 fault.', advice: 'a.json:3: is wrong' }
  ])
})

t.test('of several workers of one machine a notice says which it is about, and those that say the same have one', async t => {
  const [one, other, third] = ['11111111-a', '22222222-b', '33333333-c'].map(id => ({ ...worker, id })) as [typeof worker, typeof worker, typeof worker]
  const sandbox = { level: 'none' as const, missing: ['bwrap'] }
  const busy = (average: number): object => ({ load: { ...worker.load, average } })
  t.match(attentionOf({ workers: [one, { ...other, shortage: 'ENOSPC' }] }), [{ text: "Worker node-1 22222222 takes no jobs: it can't start processes (ENOSPC).", href: '#/workers/22222222-b' }])
  t.match(attentionOf({ workers: [{ ...one, sandbox }, { ...other, sandbox }, third] }), [{ text: 'Workers node-1 11111111, node-1 22222222 run tools without a sandbox.', href: '#/workers' }])
  t.same(textsOf({ workers: [{ ...one, sandbox }, { ...other, sandbox: { ...sandbox, missing: [] } }] }), ['Worker node-1 11111111 runs tools without a sandbox.', 'Worker node-1 22222222 runs tools without a sandbox.'])
  t.same(textsOf({ workers: [one, other, third, worker].map(each => ({ ...each, sandbox })) }), ['4 workers of node-1 run tools without a sandbox.'])
  t.same(textsOf({ workers: [{ ...one, ...busy(5) }, { ...other, ...busy(6) }] }), ['Workers node-1 11111111, node-1 22222222 have too much to do.'], 'each has measured for itself')
  t.same(textsOf({ workers: [one, { ...other, host: 'node-2', sandbox }] }), ['Worker node-2 runs tools without a sandbox.'])
  t.same(textsOf({ workers: [one], lostWorkers: [other] }), ['Worker node-1 22222222 went away.'])
})

t.test('a session that is full, or almost, is told; many are told in one line', async t => {
  const session = {
    id: '01a00000-0000-7000-8000-0123456789ab', tenant: null, key: 'k', state: 'open' as const, from: null, ttl_sec: 1, quota_bytes: 1_000, used_bytes: 1_000, created_at: '', last_used_at: '', expires_at: ''
  }
  t.match(attentionOf({ sessions: [session] }), [{ text: 'Session 0123456789ab is full.', advice: /^Its files take 1.0 KB of 1.0 KB\./, href: `#/sessions/${session.id}` }])
  t.same(textsOf({ sessions: [{ ...session, used_bytes: 900 }] }), ['Session 0123456789ab is almost full.'])
  t.same(textsOf({ sessions: [{ ...session, used_bytes: 899 }, { ...session, used_bytes: null }, { ...session, state: 'removing' }] }), [])
  t.same(textsOf({ sessions: Array.from({ length: 4 }, () => session) }), ['4 sessions are full, or almost.'])
})

t.test('in minutes without calls, counts are zero and times have a gap', async t => {
  const minute = { at: '2026-01-01T00:01:00.000Z', calls: 4, errors: 1, cancelled: 0, waiting_ms: { p50: 1, p95: 2 }, running_ms: { p50: 3, p95: 4 } }
  const { calls, waiting, running } = columnsOf({ from: '2026-01-01T00:00:00.000Z', to: '2026-01-01T00:02:30.000Z', minutes: [minute] })
  const first = Date.parse('2026-01-01T00:00:00.000Z') / 1_000
  t.same(calls, [[first, first + 60, first + 120], [0, 4, 0], [0, 1, 0]])
  t.same(waiting.slice(1), [[null, 1, null], [null, 2, null]])
  t.same(running.slice(1), [[null, 3, null], [null, 4, null]])
  t.same(withReading([[1, 2], [1, 1]], 3, [5], 2), [[2, 3], [1, 5]], 'the oldest reading goes')
})

t.test('what ran and waited begins with what the service has counted, and goes on with what the page has read', async t => {
  const from = '2026-01-01T00:00:30.000Z'
  const jobs = [1, 3, 4].map(minute => ({ at: `2026-01-01T00:0${minute}:00.000Z`, running: minute, waiting: 10 * minute }))
  const first = Date.parse('2026-01-01T00:00:00.000Z') / 1_000
  t.same(withHistory([[first + 200], [7], [8]], { from, jobs }), [
    [first, first + 60, first + 120, first + 180, first + 200], [null, 1, null, 3, 7], [null, 10, null, 30, 8]
  ], 'a minute that nobody counted is a gap, and one after the first reading is left out')
  t.same(withHistory([[], [], []], { from, jobs: jobs.slice(0, 1) }), [[first, first + 60], [null, 1], [null, 10]])
  t.same(withHistory([[first + 5], [1], [2]], { from }), [[first, first + 5], [null, 1], [null, 2]], 'it begins at the same time')
})

t.test('in the graph a step is in a later column than all that it waits for, and no two steps overlap', async t => {
  const graphs = fc.array(fc.array(fc.nat(), { maxLength: 4 }), { maxLength: 30 })
  fc.assert(fc.property(graphs, lists => {
    const steps = lists.map((needs, index) => ({
      name: `s${index}`, tool: 't', type: 't', queue: 'q', needs: index === 0 ? [] : [...new Set(needs.map(need => `s${need % index}`))], job_id: null, status: 'waiting' as const, created_at: null, started_at: null, finished_at: null, ran_ms: null
    }))
    const { placed } = placeSteps(steps)
    const columns = new Map(placed.map(({ step, column }) => [step.name, column]))
    const isBehind = placed.every(({ step, column }) => step.needs.every(need => (columns.get(need) ?? Infinity) < column))
    return isBehind && new Set(placed.map(({ column, row }) => `${column} ${row}`)).size === steps.length
  }))
  const ring = [['a', 'b'], ['b', 'a']].map(([name = '', need = '']) => ({ name, tool: 't', type: 't', queue: 'q', needs: [need], job_id: null, status: 'waiting' as const, created_at: null, started_at: null, finished_at: null, ran_ms: null }))
  t.equal(placeSteps(ring).placed.length, 2, 'a circle ends')
})

t.test('a tool whose program is missing where the API runs is told; one that is switched off is not', async t => {
  const tool = { name: 'gone', type: 'agentcli.gone', description: '', format: 'agentcli', runs: 'command', enabled: true, unavailable: null, permissions: [], file: null }
  const finding = { severity: 'warning' as const, file: 'a.json', line: 3, column: 1, tool: 'gone', rule: 'AC12', message: 'its program is not there', fix: null }
  const registry = { tools: [tool, { ...tool, name: 'here' }], findings: [finding, { ...finding, rule: 'P18', tool: 'here' }] }
  t.match(attentionOf({ registry }), [{ severity: 'warn', text: 'Tool gone may not run.', advice: /^its program is not there\./, href: '#/tools/gone' }])
  t.same(textsOf({ registry: { ...registry, tools: [{ ...tool, enabled: false }] } }), [])
})

t.test('of jobs that were made together, each has a bar of when it waited and ran, within the time of all', async t => {
  const at = (ms: number): string => new Date(1_000_000 + ms).toISOString()
  const timeOf = (ms: number | null): string | null => ms === null ? null : at(ms)
  type Job = Parameters<typeof barsOf>[0][number]
  const job = (status: Job['status'], created: number, started: number | null, finished: number | null): Job =>
    ({ status, created_at: at(created), started_at: timeOf(started), finished_at: timeOf(finished) })
  const jobs = [job('succeeded', 0, 100, 500), job('running', 0, 500, null), job('queued', 0, null, null), job('cancelled', 0, null, 250)]
  t.same(barsOf(jobs, 1_001_000), {
    totalMs: 1_000,
    bars: [
      { waitedFrom: 0, ranFrom: 0.1, to: 0.5 }, { waitedFrom: 0, ranFrom: 0.5, to: 1 }, { waitedFrom: 0, ranFrom: 1, to: 1 },
      { waitedFrom: 0, ranFrom: 0.25, to: 0.25 }
    ]
  })
  const ms = fc.integer({ min: 0, max: 10_000 })
  fc.assert(fc.property(fc.array(fc.tuple(ms, fc.option(ms), fc.option(ms), fc.constantFrom('queued', 'running', 'succeeded', 'cancelled')), { minLength: 1 }), made => {
    const { bars } = barsOf(made.map(([created, started, finished, status]) => job(status, created, started, finished)), 1_005_000)
    return bars.every(({ waitedFrom, ranFrom, to }) => waitedFrom >= 0 && ranFrom >= waitedFrom && to >= ranFrom && to <= 1)
  }))
})

t.test('a list shows the last line of an error, and of an object that a tool reports its text', async t => {
  t.equal(lastLine('connecting\nno answer\n\n'), 'no answer')
  t.equal(lastLine('connecting\n{"error":"the \\"host\\" is away","attempts":3}\n'), 'the "host" is away')
  t.equal(lastLine('{"error":"\\x"}'), '{"error":"\\x"}', 'what is no JSON stays')
  t.equal(lastLine(''), '')
})
