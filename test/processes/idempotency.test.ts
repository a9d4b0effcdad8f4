import t from 'tap'
import { entries, programs } from '../e2e/tools.ts'
import { post } from '../jobs/submission.ts'
import { createClient } from '../support/client.ts'
import { createService } from '../support/service.ts'

const service = await createService(t, { files: programs, tools: entries })

t.test('RC23 a batch that is repeated when its API key has lost the queue is refused, as a job is', async t => {
  const entry = { name: 'narrowed', key: 'test-narrowed-key-0123456789', role: 'admin' }
  const apiWith = async (queues: string[]): Promise<ReturnType<typeof createClient>> => {
    const api = await service.startApi({ API_KEYS_JSON: JSON.stringify([{ ...entry, queue_allowlist: queues }]) })
    return createClient(api.address, entry.key)
  }
  const [before, after] = [await apiWith(['allowed', 'default']), await apiWith(['allowed'])]
  const batch = { headers: { 'idempotency-key': 'narrowed' }, body: { calls: [{ call_id: 'a', name: 'echo' }] } }
  t.match((await before.request('/v1/agent-tools/invoke-batch', batch)).body, { results: [{ ok: true }] })
  t.match((await after.request('/v1/agent-tools/invoke-batch', batch)).body, { results: [{ ok: false, error: { code: 'FORBIDDEN' } }] })
  t.match((await before.request('/v1/agent-tools/invoke-batch', batch)).body, { results: [{ ok: true }] }, 'what was answered before stays')
  const job = { type: 'agentcli.echo', tags: ['narrowed'] }
  const withKey = { headers: { 'idempotency-key': 'narrowed-job' } }
  t.equal((await post(before, job, withKey)).status, 201)
  t.equal((await post(after, job, withKey)).status, 403)
})
