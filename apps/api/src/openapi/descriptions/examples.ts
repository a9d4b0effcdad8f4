const jobId = '019c1f60-1111-7abc-8def-0123456789ab'
const at = '2026-01-01T00:00:00.000Z'
const worker = '0b5f1c9e-2222-4abc-8def-0123456789ab'
const parts = {
  id: jobId,
  type: 'agentcli.get_time',
  tool: 'get_time',
  queue: 'default',
  priority: 5,
  timeout_sec: 30,
  max_attempts: 1,
  callback_url: null,
  tags: ['agent-tool'],
  key: 'default',
  created_at: at,
  updated_at: at
}
const run = { attempts: 1, worker, error: null, started_at: at, finished_at: at, waited_ms: 3, ran_ms: 12 }
const noRun = { attempts: 0, worker: null, error: null, started_at: null, finished_at: null, waited_ms: null, ran_ms: null }
const input = { timezone: 'Europe/Vienna' }
const counted = { calls: 120, errors: 3, cancelled: 0, waiting_ms: { p50: 2, p95: 9 }, running_ms: { p50: 14, p95: 72 } }
const rates = { error_rate: 0.025, calls_per_minute: 2 }
const spec = { type: 'object', properties: { timezone: { type: 'string' } } }

/** Values that the document shows. A test holds them against their schemas. */
export const examples = {
  toolList: {
    ok: true,
    tools: [{ type: 'function', function: { name: 'get_time', description: 'Tells the time.', parameters: spec } }],
    count: 1
  },
  pending: { ok: true, pending: true, job_id: jobId },
  skills: { ok: true, skills: [{ name: 'notes', description: 'Keeps notes.', tools: ['notes_add'] }], count: 1, prompt: '# Skills' },
  batch: { calls: [{ call_id: 'call_1', name: 'get_time', arguments: input }], wait_ms: 5_000 },
  batchAnswer: {
    ok: true,
    results: [{ call_id: 'call_1', name: 'get_time', ok: true, output: { time: '01:00' }, job_id: jobId }],
    tool_messages: [{ role: 'tool', tool_call_id: 'call_1', name: 'get_time', content: '{"time":"01:00"}' }],
    mode: 'sync'
  },
  submission: { type: 'agentcli.get_time', input, priority: 7 },
  job: { ...parts, ...run, status: 'succeeded', input, result: { time: '01:00' }, sandbox: { level: 'full', missing: [] } },
  queuedJob: { ...parts, ...noRun, status: 'queued', input, result: null, sandbox: null },
  cancelledJob: {
    ...parts,
    ...run,
    status: 'cancelled',
    input,
    result: null,
    sandbox: null,
    error: { code: 'JOB_CANCELLED', message: 'The job was cancelled', at }
  },
  jobSummary: { ...parts, ...run, status: 'succeeded' },
  logEntry: { id: '1767225600000-0', ts: at, level: 'info', message: 'reading', meta: null },
  jobType: {
    name: 'agentcli.get_time',
    enabled: true,
    handler: 'builtin:manifest.agentcli',
    default_timeout_sec: 30,
    default_max_attempts: 1
  },
  session: {
    id: jobId,
    tenant: 'acme',
    key: 'acme-app',
    state: 'open',
    from: null,
    ttl_sec: 3_600,
    quota_bytes: 104_857_600,
    used_bytes: null,
    created_at: at,
    last_used_at: at,
    expires_at: '2026-01-01T01:00:00.000Z'
  },
  statistics: {
    ok: true,
    from: '2025-12-31T23:01:00.000Z',
    to: at,
    total: { ...counted, ...rates },
    tools: [{ name: 'get_time', ...counted, ...rates }],
    queues: [{ name: 'default', ...counted, ...rates }],
    keys: [{ name: 'acme-app', ...counted, ...rates }],
    minutes: [{ at: '2025-12-31T23:58:00.000Z', ...counted }],
    usage: [{ tool: 'get_time', key: 'acme-app', tenant: 'acme', calls: 120, seconds: 2.4, processor_seconds: 1.9, output_bytes: 4_320 }]
  },
  bulk: {
    id: '0192f3c5-7a10-7000-8000-5d1f6f1e2b3c',
    action: 'cancel',
    filter: { queue: 'reports', status: 'queued' },
    state: 'running',
    key: 'admin',
    total: 250,
    seen: 100,
    changed: 98,
    created_at: at,
    finished_at: null as string | null
  },
  queue: { name: 'reports', paused: false, waiting: 12, delayed: 0, blocked: 1, held: 2, running: 4, oldest_sec: 3.2, workers: 2, places: 16 },
  worker: {
    id: worker,
    host: 'node-1',
    version: '0.1.0',
    queues: ['*'],
    places: { used: 3, total: 8, per_queue: 8, all_queues: 8 },
    sandbox: { level: 'full', missing: [] },
    load: { average: 0.42, processors: 4, memory_bytes: 104_857_600 },
    shortage: null,
    state: 'working',
    ran: 120,
    started_at: at,
    last_seen_at: at
  },
  goneWorker: { id: worker, host: 'node-1', version: '0.1.0', queues: ['*'], how: 'left', ran: 120, started_at: at, last_seen_at: at },
  key: {
    name: 'acme-app',
    role: 'admin',
    tenant: 'acme',
    queue_allowlist: null,
    namespaces: null,
    hosts: null,
    permissions: null,
    sse: true,
    source: 'redis',
    created_at: '2026-01-01T12:00:00.000Z',
    expires_at: '2026-01-02T12:00:00.000Z',
    last_used_at: null
  },
  whoAmI: { ok: true, auth: { name: 'default', role: 'admin', sse: true, can_write: true, can_approve: true, queue_allowlist: null } },
  ticket: { ok: true, token: 'TICKET', token_param: 'stream_token', ttl_sec: 60, expires_at: at, job_id: null },
  requestId: '019c1f60-2222-4abc-8def-0123456789ab'
} as const
