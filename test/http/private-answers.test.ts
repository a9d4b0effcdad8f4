import t from 'tap'
import { injectService } from '../support/injected.ts'
import { entries, programs } from '../e2e/tools.ts'

const { client } = await injectService(t, { files: programs, tools: entries, workers: 0 })

t.test('no cache keeps what a key may see: each answer of the API says so, errors too', async t => {
  const { body: document } = await client.request<{ paths: Record<string, Record<string, unknown>> }>('/openapi.json')
  const paths = Object.entries(document.paths).filter(([path, { get }]) => get !== undefined && !path.includes('{'))
  t.ok(paths.length > 15)
  for (const [path] of paths) {
    if (path === '/health' || path === '/ready') continue
    const { status, headers } = await client.request(path)
    t.match(headers.get('cache-control'), headers.has('etag') ? /^private, no-cache$/ : /^no-store$/, `${status} ${path}`)
  }
  const others = {
    201: await client.request('/v1/jobs', { body: { type: 'agentcli.echo', input: {} } }),
    '200 of a batch': await client.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'a', name: 'none' }] } }),
    '200 as events': await client.request('/v1/agent-tools/invoke-batch', { body: { calls: [{ call_id: 'a', name: 'none' }] }, headers: { accept: 'text/event-stream' } }),
    400: await client.request('/v1/jobs?none=1'),
    401: await client.request('/v1/jobs', { key: 'wrong' }),
    404: await client.request('/v1/jobs/01a22401-a3b8-72c0-930e-c32ba30a9402')
  }
  for (const [what, { headers }] of Object.entries(others)) t.equal(headers.get('cache-control'), 'no-store', what)
})
