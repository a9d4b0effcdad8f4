import type { SessionView } from '@toolyard/contract'
import { openApi } from '@toolyard/api'
import { createLogger, readSettings } from '@toolyard/runtime'
import { EntryLocks } from '@toolyard/store'
import { getEventListeners, once } from 'node:events'
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { injectService } from '../support/injected.ts'
import { testKeys } from '../support/service.ts'

const { app, client, env, redis } = await injectService(t, { workers: 0 })
const at = (name: string): string => join(String(env['WORKSPACE_DIR']), name)
type Answer = Awaited<ReturnType<typeof app.inject>>
const ask = async (method: 'PUT' | 'DELETE', path: string, payload: string, headers: Record<string, string> = {}): Promise<Answer> => {
  return await app.inject({ method, url: `/v1/files/${path}`, payload, headers: { 'x-api-key': testKeys.admin, 'content-type': 'text/plain', ...headers } })
}

t.test('a removal waits for its turn among the uploads, and looks again then', async t => {
  const tag = String((await ask('PUT', 'raced', 'old')).headers['etag'])
  const writer = await new EntryLocks(await connectTo(t, redis)).take(`${statSync(at('.')).ino}/raced`, new AbortController().signal)
  const removing = ask('DELETE', 'raced', '', { 'if-match': tag })
  await sleep(200)
  writeFileSync(at('newer'), 'new')
  renameSync(at('newer'), at('raced'))
  writer.release()
  t.equal((await removing).statusCode, 412)
  t.equal(readFileSync(at('raced'), 'utf8'), 'new')
  t.equal((await ask('DELETE', 'raced', '', { 'if-match': '*' })).statusCode, 204)
})

t.test('an upload whose file a tool removes at once is answered, with a tag that names no later file', async t => {
  const ending = new AbortController()
  const removing = (async () => {
    while (!ending.signal.aborted) {
      rmSync(at('fleeting'), { force: true })
      await turn()
    }
  })()
  const answers: Answer[] = []
  for (let count = 0; count < 20; count++) answers.push(await ask('PUT', 'fleeting', 'x'))
  ending.abort()
  await removing
  t.same([...new Set(answers.map(({ statusCode }) => statusCode))].filter(status => status !== 200), [201])
  await ask('PUT', 'fleeting', 'y')
  t.equal((await ask('PUT', 'fleeting', 'z', { 'if-match': String(answers.at(-1)?.headers['etag']) })).statusCode, 412)
})

t.test('of clients that leave while Redis is slow the API keeps nothing', async t => {
  const api = await openApi(readSettings(env), env, createLogger('api', 'silent'))
  t.teardown(async () => {
    api.end.abort()
    await api.app.close()
    await api.close()
  })
  await api.start()
  const { port } = new URL(await api.app.listen({ port: 0, host: '127.0.0.1' }))
  const { id } = (await client.request<{ session: SessionView }>('/v1/sessions', { body: {} })).body.session
  const kept = (): number => getEventListeners(api.end.signal, 'abort').length
  const atFirst = kept()
  const control = await connectTo(t, redis)
  await control.client('PAUSE', 700, 'ALL')
  for (let count = 0; count < 20; count++) {
    const socket = connect(Number(port), '127.0.0.1')
    await once(socket, 'connect')
    socket.end(`GET /v1/sessions/${id}/files/a.txt HTTP/1.1\r\nHost: a\r\nx-api-key: ${testKeys.admin}\r\n\r\n`, () => { socket.destroy() })
  }
  await sleep(1_000)
  await waitFor('nothing is kept', () => kept() <= atFirst)
})
