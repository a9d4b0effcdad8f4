import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { freePort } from '../support/redis-process.ts'
import { createService, makeKeys, testKeys } from '../support/service.ts'
import { entries, programs } from '../e2e/tools.ts'

const { keys, API_KEYS_JSON } = makeKeys({ read: {}, limited: { queue_allowlist: ['allowed'] }, acme: { tenant: 'acme' } })
const service = await createService(t, {
  files: programs,
  tools: entries,
  workers: 0,
  env: { API_KEYS_JSON }
})
const { client } = service
const scrape = async (): Promise<string> => (await client.request('/metrics')).text
const value = (text: string, series: string): number => Number(text.split('\n').find(line => line.startsWith(`${series} `))?.slice(series.length + 1) ?? NaN)

t.test('an autoscaler reads how many jobs wait in each queue, and for how long', async t => {
  await client.batch(['a', 'b'].map(id => ({ call_id: id, name: 'echo' })), { mode: 'async', queue: 'busy' })
  const text = await scrape()
  t.equal(value(text, 'toolyard_queue_jobs{queue="busy",state="waiting"}'), 2)
  t.equal(value(text, 'toolyard_queue_jobs{queue="busy",state="running"}'), 0)
  const oldest = value(text, 'toolyard_queue_oldest_seconds{queue="busy"}')
  t.ok(oldest >= 0 && oldest < 60, `${oldest} s`)
  t.equal(value(text, 'toolyard_redis_up'), 1)
  t.ok(value(text, 'toolyard_redis_latency_seconds') > 0)
})

t.test('calls are counted by tool and outcome, jobs by tool, state and code', async t => {
  const port = await freePort()
  const worker = await service.startWorker({ METRICS_PORT: String(port), SANDBOX: 'off' })
  await client.batch([{ call_id: '1', name: 'echo' }, { call_id: '2', name: 'fail' }, { call_id: '3', name: 'made-up-by-a-model' }])
  const text = await scrape()
  await client.batch([{ call_id: '1', name: 'fail' }], {}, keys.acme)
  t.equal(value(text, 'toolyard_calls_total{tool="echo",outcome="ok"}'), 1)
  t.equal(value(text, 'toolyard_calls_total{tool="fail",outcome="TOOL_FAILED"}'), 1)
  t.equal(value(text, 'toolyard_calls_total{tool="",outcome="UNKNOWN_TOOL"}'), 1)
  t.notMatch(text, /made-up/, 'what callers make up is no label')
  t.ok(value(text, 'toolyard_http_request_duration_seconds_count{method="POST",route="/v1/agent-tools/invoke-batch",status="200"}') >= 2)
  t.match(text, /^toolyard_nodejs_eventloop_lag_p99_seconds /m)

  const ofWorker = await waitFor('the worker has counted, and runs nothing any more', async () => {
    const body = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    const hasCounted = value(body, 'toolyard_jobs_total{tool="fail",state="failed",code="TOOL_FAILED"}') === 2
    return hasCounted && value(body, 'toolyard_jobs_running') === 0 && body
  })
  t.ok(value(ofWorker, 'toolyard_jobs_total{tool="echo",state="succeeded",code=""}') >= 1)
  t.equal(value(ofWorker, 'toolyard_tenant_runs_total{tenant="acme",state="failed"}'), 1)
  t.ok(value(ofWorker, 'toolyard_tenant_run_seconds_total{tenant="acme"}') > 0)
  t.equal(ofWorker.match(/^toolyard_tenant_runs_total\{/gm)?.length, 1, 'jobs of no tenant are in none of them')
  t.ok(value(ofWorker, 'toolyard_job_wait_seconds_count{queue="default"}') >= 2)
  t.ok(value(ofWorker, 'toolyard_job_run_seconds_sum{tool="echo"}') > 0)
  t.equal(value(ofWorker, 'toolyard_worker_concurrency'), 8)
  t.equal(value(ofWorker, 'toolyard_worker_places_used'), 0)
  t.equal(value(ofWorker, 'toolyard_worker_places') % 8, 0, 'places of each queue that it serves')
  t.equal(value(ofWorker, 'toolyard_sandbox_level{layer="files"}'), 0, 'without a sandbox no layer holds')
  await worker.stop()
})

t.test('while Redis is away the metrics are served, and say so', async t => {
  await service.redis.stop()
  const text = await waitFor('the outage is told', async () => {
    const body = await scrape()
    return value(body, 'toolyard_redis_up') === 0 && body
  })
  t.notMatch(text, /^toolyard_queue_jobs\{/m)
  await service.redis.start()
  await waitFor('the end of it is told', async () => value(await scrape(), 'toolyard_redis_up') === 1)
})

t.test('R3 a read key may not read the metrics', async t => {
  t.equal((await client.request('/metrics', { key: testKeys.read })).status, 403)
})

t.test('an admin key that is bound to queues may not read the metrics, which cover all queues', async t => {
  t.match(await client.request('/metrics', { key: testKeys.limited }), { status: 403, body: { error: { code: 'FORBIDDEN' } } })
})
