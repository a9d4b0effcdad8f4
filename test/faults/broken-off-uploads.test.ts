import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'

const { api, client, dir } = await createService(t, { workers: 0 })
const { hostname, port } = new URL(api.address)
const refused = async (): Promise<number> => (await api.output()).split('"status":404').length

for (const query of ['', '?archive=tar']) {
  t.test(`a client that goes away in the middle of PUT /v1/files/*${query} leaves nothing, and no error in the log`, async t => {
    const socket = connect(Number(port), hostname)
    const head = `PUT /v1/files/cut-off${query} HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${testKeys.admin}\r\ncontent-length: 10000\r\n`
    socket.write(`${head}expect: 100-continue\r\n\r\nbegun`)
    await once(socket, 'data')
    socket.destroy()
    await waitFor('nothing of it', () => !readdirSync(join(dir, 'workspace')).some(name => /toolyard-|cut-off/.test(name)))
    const before = await refused()
    t.match(await client.request('/v1/files/later'), { status: 404 })
    await waitFor('a later request is in the log', async () => await refused() > before)
    t.notMatch(await api.output(), /"level":50/)
  })
}
