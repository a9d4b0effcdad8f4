import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import t from 'tap'
import type { SessionView } from '@toolyard/contract'
import { growthMb } from '../support/memory-growth.ts'
import { createService, testKeys } from '../support/service.ts'

t.setTimeout(900_000)

const fileBytes = 2 ** 30
const pieceBytes = 2 ** 20
/** An API process may grow by so much while it sends or takes a file of any size. */
const mostGrowthMb = 96
const { bavail, bsize } = statfsSync(tmpdir())
const freeBytes = bavail * bsize
const skip = freeBytes < 3 * fileBytes ? `a file of 1 GiB needs 3 GiB of free disk; there are ${Math.floor(freeBytes / 2 ** 20)} MiB` : false

void t.test('a file of 1 GiB goes in and comes out without costing the API memory', { skip }, async t => {
  const sessionsDir = mkdtempSync(join(tmpdir(), 'toolyard-large-'))
  t.teardown(() => { rmSync(sessionsDir, { recursive: true, force: true }) })
  const service = await createService(t, { workers: 0, env: { SESSIONS_DIR: sessionsDir, SESSION_QUOTA_BYTES: String(2 * fileBytes) } })
  const { client, api } = service
  const { body: { session: { id } } } = await client.request<{ session: SessionView }>('/v1/sessions', { body: {} })
  const path = `/v1/sessions/${id}/files/`
  const pid = api.child.pid ?? 0

  async function exchange (method: string, name: string, body?: Readable): Promise<IncomingMessage> {
    const sent = request(`${api.address}${path}${name}`, {
      method, headers: { 'x-api-key': testKeys.admin, ...(body === undefined ? {} : { 'content-length': fileBytes }) }
    })
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>
    if (body === undefined) sent.end()
    else await pipeline(body, sent)
    return (await answered)[0]
  }

  // Once around, so that what is measured is the file and not the first use of the code.
  await client.request(`${path}small`, { method: 'PUT', body: 'x' })
  await client.request(`${path}small`)

  const piece = randomBytes(pieceBytes)
  const sentHash = createHash('sha256')
  function * pieces (): Generator<Buffer> {
    for (let at = 0; at < fileBytes; at += pieceBytes) {
      sentHash.update(piece)
      yield piece
    }
  }
  const upGrowth = await growthMb(pid, async () => {
    const answer = await exchange('PUT', 'large', Readable.from(pieces()))
    const text = await textOf(answer)
    t.equal(answer.statusCode, 201, text)
  })
  t.ok(upGrowth < mostGrowthMb, `an upload: ${upGrowth.toFixed(0)} MB`)

  const gotHash = createHash('sha256')
  let gotBytes = 0
  const downGrowth = await growthMb(pid, async () => {
    const answer = await exchange('GET', 'large')
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      gotHash.update(chunk)
      gotBytes += chunk.length
    }
  })
  t.ok(downGrowth < mostGrowthMb, `a download: ${downGrowth.toFixed(0)} MB`)
  t.equal(gotBytes, fileBytes)
  t.equal(gotHash.digest('hex'), sentHash.digest('hex'), 'byte for byte')
})

async function textOf (answer: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of answer as AsyncIterable<Buffer>) text += chunk.toString()
  return text
}
