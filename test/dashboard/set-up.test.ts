import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import t from 'tap'
import { createService, testKeys } from '../support/service.ts'
import { logIn, openVisit, visit } from './visitor.ts'

const service = await createService(t, { workers: 0 })
const { client } = service
await client.batch([{ call_id: 'c', name: 'data_file_read', arguments: { path: 'README.md' } }], { mode: 'async', queue: 'allowed' })
await client.batch([{ call_id: 'c', name: 'data_file_read', arguments: { path: 'README.md' } }], { mode: 'async', queue: 'others:too' })

/** The status for a request to another name; `fetch` chooses the name by itself. */
async function statusAt (address: string, host: string, path: string): Promise<number | undefined> {
  const sent = request(address + path, { headers: { host } })
  sent.end()
  const [response] = await once(sent, 'response') as [IncomingMessage]
  response.resume()
  return response.statusCode
}

t.test('a key sees only its own queues', async t => {
  const names = async (key: string): Promise<string[]> => {
    const { body } = await (await openVisit(service.api.address, key)).api('/queues')
    return (body['queues'] as Array<{ name: string }>).map(queue => queue.name)
  }
  t.same(await names(testKeys.admin), ['allowed', 'others:too'], 'by their public names')
  t.same(await names(testKeys.limited), ['allowed'])
  const limited = await openVisit(service.api.address, testKeys.limited)
  t.equal((await limited.api('/queues/others:too/workers')).status, 404)
  t.equal((await limited.api('/redis/stats')).status, 403, 'Redis holds the jobs of other queues, too')
  t.equal((await limited.api('/queues/others:too/pause', 'PUT')).status, 404)
  t.equal((await limited.api('/queues/pause', 'PUT')).status, 200)
  const admin = await openVisit(service.api.address)
  const { body } = await admin.api('/queues')
  t.match(body['queues'], [{ name: 'allowed', isPaused: true }, { name: 'others:too', isPaused: false }])
  await admin.api('/queues/resume', 'PUT')
})

t.test('a dashboard that is switched off gives a 404', async t => {
  const { address } = await service.startApi({ DASHBOARD: 'off' })
  for (const path of ['/dashboard', '/dashboard/login', '/dashboard/api/queues']) t.equal((await visit(address + path)).status, 404, path)
})

t.test('a read-only dashboard shows everything and changes nothing', async t => {
  const { address } = await service.startApi({ DASHBOARD: 'read-only' })
  const { api } = await openVisit(address)
  const { body } = await api('/queues')
  t.match(body['queues'], [{ name: 'allowed', readOnlyMode: true, allowRetries: false }, {}])
  for (const path of ['/queues/allowed/pause', '/queues/allowed/retry/failed', '/queues/allowed/clean/failed', '/queues/pause', '/queues/resume']) t.equal((await api(path, 'PUT')).status, 405, path)
  t.match((await api('/queues')).body['queues'], [{ isPaused: false }, { isPaused: false }])
})

t.test('fault 40 without authentication it answers only to names of this machine', async t => {
  const { address } = await service.startApi({ API_KEYS_JSON: '', API_AUTH_DISABLED: '1' })
  const { port } = new URL(address)
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, 'LOCALHOST', '[::1]']) t.equal(await statusAt(address, host, '/dashboard/api/queues'), 200, host)
  for (const host of ['evil.example', `localhost.evil.example:${port}`, '127.0.0.1.evil.example', '10.0.0.1']) {
    for (const path of ['/dashboard/api/queues', '/dashboard', '/dashboard/login']) t.equal(await statusAt(address, host, path), 403, host + path)
  }
  t.equal((await visit(`${address}/dashboard/api/queues/pause`, { method: 'PUT', headers: { origin: 'https://evil.example' } })).status, 403)
})

t.test('behind a proxy with a path every link has the path, whether the proxy removes it or not', async t => {
  const { address } = await service.startApi({ BASE_PATH: '/tools/yard/' })
  for (const sent of ['', '/tools/yard']) {
    t.equal((await visit(`${address}${sent}/dashboard`)).headers.get('location'), '/tools/yard/dashboard/login')
    const page = await visit(`${address}${sent}/dashboard/login`)
    t.match(page.text, 'action="/tools/yard/dashboard/login"')
    const login = await visit(`${address}${sent}/dashboard/login`, { form: { key: testKeys.admin } })
    t.match([login.headers.get('location'), login.headers.get('set-cookie')], ['/tools/yard/dashboard/', /; Path=\/tools\/yard;/])
    const cookie = await logIn(address + sent)
    t.match((await visit(`${address}${sent}/dashboard/queue/allowed`, { headers: { cookie } })).text, '<base href="/tools/yard/dashboard/" />')
    t.equal((await visit(`${address}${sent}/dashboard/api/queues?page=1`, { headers: { cookie } })).status, 200)
    t.equal((await visit(`${address}${sent}/health`)).status, 200)
  }
  t.equal((await visit(`${address}/tools/yardstick/health`)).status, 404)
})
