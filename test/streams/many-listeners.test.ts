import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createService } from '../support/service.ts'
import { waitFor } from '../support/condition.ts'
import { turnEnvironment, turnsOf } from '../event-loop/service-turns.ts'
import { chatterEntry, chatterFiles } from './tools.ts'

const env = turnEnvironment()
const service = await createService(t, { files: chatterFiles, tools: [chatterEntry], env: { ...env, MAX_STREAMS: '5000' } })
const leavesLoopFree = turnsOf({ api: service.api, workers: [] }, env)
const { hostname, port } = new URL(service.api.address)
const streams = 3_000

interface Reader { socket: Socket, said: string, notices: number }

/** A stream on which a client of 2026 hears of changes. */
async function listen (key: string): Promise<Reader> {
  const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', 'io.modelcontextprotocol/clientCapabilities': {} }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true }, _meta: meta } })
  const socket = connect(Number(port), hostname)
  const reader = { socket, said: '', notices: 0 }
  t.teardown(() => { socket.destroy() })
  const headers = [
    `x-api-key: ${key}`, 'accept: application/json, text/event-stream', 'content-type: application/json', 'mcp-protocol-version: 2026-07-28',
    'mcp-method: subscriptions/listen', `content-length: ${body.length}`
  ]
  socket.setEncoding('latin1').on('error', () => {}).on('data', (text: string) => {
    reader.said = (reader.said + text).slice(-1_000)
    reader.notices += text.split('tools/list_changed').length - 1
  })
  socket.write(`POST /mcp HTTP/1.1\r\nhost: x\r\n${headers.join('\r\n')}\r\n\r\n${body}`)
  await once(socket, 'data')
  if (!reader.said.startsWith('HTTP/1.1 200 ')) throw new Error(reader.said)
  return reader
}

async function listenAll (key: string): Promise<Reader[]> {
  const readers: Reader[] = []
  while (readers.length < streams) readers.push(...await Promise.all(Array.from({ length: 100 }, () => listen(key))))
  return readers
}

/** Makes a key of a tenant. */
async function makeKey (name: string): Promise<string> {
  const { body } = await service.client.request<{ key: { key: string } }>('/v1/keys', { body: { name, role: 'read', tenant: 'acme' } })
  return body.key.key
}

t.test('promise 10: no change of the tools holds up the API, however many streams are told of it, and each of them is', async t => {
  const readers = await listenAll(await makeKey('many'))
  let changes = 0
  await leavesLoopFree(t, `${streams} streams of MCP that are told of a change`, async () => {
    changes += 1
    const path = join(service.dir, 'tools.json')
    writeFileSync(`${path}.new`, JSON.stringify({ tools: [{ ...chatterEntry, description: `Change ${changes}` }] }))
    renameSync(`${path}.new`, path)
    await waitFor('all are told', () => readers.every(({ notices }) => notices === changes))
  })
  for (const { socket } of readers) socket.destroy()
})

t.test('promise 10: no end of a key holds up the API, however many streams it has open, and all of them end', async t => {
  let keys = 0
  await leavesLoopFree(t, `${streams} streams whose key is revoked`, async () => {
    const name = `gone-${keys++}`
    const readers = await listenAll(await makeKey(name))
    await service.client.request(`/v1/keys/${name}`, { method: 'DELETE' })
    await waitFor('all have ended', () => readers.every(({ said }) => said.includes('opens nothing any more')))
    for (const { socket } of readers) socket.destroy()
  })
})
