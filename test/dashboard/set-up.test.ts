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
  t.equal((await limited.api('/%72edis/stats')).status, 403, 'however it is written')
  const forged = await visit(`${service.api.address}/dashboard/api/queues`, { headers: { cookie: limited.cookie, 'x-toolyard-queues': 'null' } })
  t.notMatch(forged.text, /others/, 'the service alone says which queues a viewer may see')
})

t.test('a dashboard that is switched off gives a 404', async t => {
  const { address } = await service.startApi({ DASHBOARD: 'off' })
  for (const path of ['/dashboard', '/dashboard/static/favicon.ico', '/dashboard/api/queues']) t.equal((await visit(address + path)).status, 404, path)
})

t.test('fault 40 without authentication it answers only to names of this machine', async t => {
  const { address } = await service.startApi({ API_KEYS_JSON: '', API_AUTH_DISABLED: '1' })
  const { port } = new URL(address)
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, 'LOCALHOST', '[::1]']) t.equal(await statusAt(address, host, '/dashboard/api/queues'), 200, host)
  for (const host of ['evil.example', `localhost.evil.example:${port}`, '127.0.0.1.evil.example', '10.0.0.1']) {
    for (const path of ['/dashboard/api/queues', '/dashboard']) t.equal(await statusAt(address, host, path), 403, host + path)
  }
})

t.test('behind a proxy with a path every link has the path, whether the proxy removes it or not', async t => {
  const { address } = await service.startApi({ BASE_PATH: '/tools/yard/' })
  for (const sent of ['', '/tools/yard']) {
    t.equal((await visit(`${address}${sent}/dashboard`)).headers.get('location'), '/tools/yard/?then=dashboard')
    const cookie = await logIn(address + sent)
    t.match((await visit(`${address}${sent}/dashboard/queue/allowed`, { headers: { cookie } })).text, '<base href="/tools/yard/dashboard/" />')
    t.equal((await visit(`${address}${sent}/dashboard/api/queues?page=1`, { headers: { cookie } })).status, 200)
    t.equal((await visit(`${address}${sent}/health`)).status, 200)
  }
  t.equal((await visit(`${address}/tools/yardstick/health`)).status, 404)
})
