import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import type { Answer } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { growthMb } from '../support/memory-growth.ts'
import { createService, makeKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({ acme: { tenant: 'acme' }, other: { tenant: 'other' } })
const path = '/v1/tools/cat'
const mebibyte = 1_024 * 1_024
/** 128 MiB may be on their way. A little is left free, since the last bytes of each body don't come. */
const coming = Buffer.alloc(mebibyte - 16_384, ' ')

t.test('a tenant whose bodies come and come, and never end, has 128 MiB of them in memory at most, and others are served', async t => {
  const { api, client } = await createService(t, {
    files: { 'tools/bin/cat': '#!/bin/sh\nexec cat\n' }, tools: [{ name: 'cat', schema: { type: 'object' }, command: ['./tools/bin/cat'] }], env: { API_KEYS_JSON }
  })
  const { hostname, port } = new URL(api.address)
  const sockets: Socket[] = []
  t.teardown(() => { for (const socket of sockets) socket.destroy() })
  const answers: string[] = []
  for (let count = 0; count < 140; count++) {
    const socket = connect(Number(port), hostname)
    sockets.push(socket)
    socket.on('error', () => {}).on('data', data => { answers.push(data.toString('latin1')) })
    await once(socket, 'connect')
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${keys.acme}\r\ncontent-type: application/json\r\ncontent-length: ${mebibyte}\r\n\r\n`)
    socket.write(coming)
  }
  await waitFor('those that are too many are refused', () => answers.length >= 10)
  for (const answer of answers) t.match(answer, /^HTTP\/1\.1 429 .*bodies that this tenant is sending, or waits/s)
  const large = async (key: string): Promise<number> => (await client.request(path, { body: { text: 'x'.repeat(500_000) }, key })).status
  t.equal(await large(keys.other), 200)
  t.equal((await client.request(path, { body: {}, key: keys.acme })).status, 200, 'what is small goes in any case')
  for (const socket of sockets) socket.destroy()
  await waitFor('it is served again', async () => await large(keys.acme) === 200)
})

t.test('a tenant whose requests wait has 128 MiB of their bodies in memory at most, however small what is in them', async t => {
  const { client } = await createService(t, { workers: 0, env: { API_KEYS_JSON } })
  const { body: { job } } = await client.request<{ job: { id: string } }>('/v1/jobs', { body: { type: 'data.file_read', input: { path: 'README.md' } }, key: keys.acme })
  const waiting = { call_id: 'a', name: 'job_result', arguments: { job_id: job.id, wait_ms: 60_000 } }
  for (const [what, value, most] of [['texts', 'x'.repeat(mebibyte - 1_000), 128], ['objects', Array.from({ length: 29_000 }, () => ({})), 70]] as const) {
    const gone = new AbortController()
    const body = JSON.stringify({ calls: [waiting, { call_id: 'b', name: 'none', arguments: { value } }], wait_ms: 60_000 })
    const send = async (key: string): Promise<Answer> => await client.request('/v1/agent-tools/invoke-batch', { body, key, signal: gone.signal })
    const refused: Answer[] = []
    for (let count = 0; count < 140; count++) send(keys.acme).then(answer => { refused.push(answer) }, () => {})
    await waitFor(`${what} that are too many are refused`, () => refused.length >= 140 - most, 60_000)
    t.ok(refused.length < 110, `${refused.length} were refused`)
    const why = { code: 'RATE_LIMITED', message: /bodies that this tenant is sending, or waits for the answers to/ }
    for (const answer of refused) t.match(answer, { status: 429, body: { error: why } })
    t.equal((await send(keys.other)).status, 200, 'another one is served')
    t.equal((await client.request('/v1/auth/whoami', { key: keys.acme })).status, 200)
    gone.abort()
    await waitFor('it is served again', async () => {
      const soon = { ...waiting, arguments: { job_id: job.id, wait_ms: 0 } }
      const rest = { call_id: 'b', name: 'none', arguments: { value: 'x'.repeat(mebibyte - 1_000) } }
      return (await client.request('/v1/agent-tools/invoke-batch', { body: { calls: [soon, rest] }, key: keys.acme })).status === 200
    })
  }
})

t.test('who has no key sends 16 KiB at most: the body of a login is a key', async t => {
  const { client } = await createService(t, { workers: 0 })
  const login = async (key: string): Promise<object> => await client.request('/v1/auth/login', { key: null, body: { key } })
  t.match(await login('x'.repeat(17_000)), { status: 413, body: { error: { code: 'PAYLOAD_TOO_LARGE', message: 'The request body is larger than 16384 bytes' } } })
  t.match(await login('x'.repeat(16_000)), { status: 403 })
  for (const path of ['/v1/none', '/none']) t.match(await client.request(path, { body: { key: 'x'.repeat(500_000) } }), { status: 404 }, path)
})

t.test('bodies that come in pieces of a byte take no more memory than others, with a key or without', async t => {
  const { api, client } = await createService(t, { workers: 0, env: { API_KEYS_JSON } })
  const { hostname, port } = new URL(api.address)
  const sockets: Socket[] = []
  t.teardown(() => { for (const socket of sockets) socket.destroy() })
  for (const key of [`x-api-key: ${keys.acme}\r\n`, '']) {
    const growth = await growthMb(api.child.pid ?? 0, async () => {
      for (let count = 0; count < 400; count++) {
        const socket = connect(Number(port), hostname).on('error', () => {})
        sockets.push(socket)
        await once(socket, 'connect')
        socket.write(`POST /v1/auth/login HTTP/1.1\r\nhost: x\r\n${key}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(1_000)}`)
      }
      for (let looks = 0; looks < 3; looks++) t.equal((await client.request('/ready')).status, 200)
    })
    t.ok(growth < 64, `${growth.toFixed(0)} MB for 400 bodies of 1,000 bytes`)
  }
})
