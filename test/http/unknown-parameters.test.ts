import t from 'tap'
import { injectService } from '../support/injected.ts'
import { testKeys } from '../support/service.ts'

const { client } = await injectService(t, { workers: 0 })
const id = '01890a5d-ac96-774b-bcce-b302099a8057'

t.test('a route that takes no query refuses every parameter, and names it', async t => {
  const requests: Array<[method: string, path: string, body?: object]> = [
    ['GET', '/v1/workers'], ['GET', '/v1/queues'], ['PATCH', '/v1/queues/own', { paused: true }],
    ['GET', '/v1/bulk'], ['POST', '/v1/bulk', { action: 'cancel', filter: { status: 'queued' } }], ['GET', `/v1/bulk/${id}`], ['POST', `/v1/bulk/${id}/stop`],
    ['GET', '/v1/registry'], ['GET', '/v1/registry/data_file_read'], ['GET', '/v1/job-types'], ['PATCH', '/v1/job-types/data.file_read', { enabled: false }],
    ['GET', '/v1/keys'], ['POST', '/v1/keys', { name: 'new', role: 'read' }], ['DELETE', '/v1/keys/new'], ['GET', '/v1/auth/whoami'],
    ['POST', '/v1/jobs', { type: 'data.file_read', input: { path: 'x' } }], ['GET', `/v1/jobs/${id}`], ['GET', `/v1/jobs/${id}/steps`], ['POST', `/v1/jobs/${id}/cancel`],
    ['POST', '/v1/sessions'], ['GET', `/v1/sessions/${id}`], ['DELETE', `/v1/sessions/${id}`]
  ]
  for (const [method, path, body] of requests) {
    const { status, body: answer } = await client.request<object>(`${path}?tenant=acme`, { method, key: testKeys.admin, ...(body === undefined ? {} : { body }) })
    t.equal(status, 400, `${method} ${path}`)
    t.match(answer, { ok: false, error: { code: 'VALIDATION_ERROR', message: "'tenant' is not a known parameter (known: none)" } }, `${method} ${path}`)
  }
  t.match((await client.request('/v1/jobs')).body, { count: 0 })
})
