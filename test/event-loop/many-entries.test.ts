import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { headerOf } from '../archives/archive-parts.ts'
import { growthMb } from '../support/memory-growth.ts'
import { createService, testKeys } from '../support/service.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

t.setTimeout(300_000)

const entries = 10_000_000
/** Entries that are sent at once. */
const piece = 1_000
const quotaBytes = 200_000
/** The API may grow by so much, in MB: the pieces on their way, and what is collected later. Ten million names would be more. */
const mostGrowthMb = 96

const sessionsDir = mkdtempSync(join(tmpdir(), 'toolyard-entries-'))
t.teardown(() => { rmSync(sessionsDir, { recursive: true, force: true }) })
const env = turnEnvironment()
const service = await createService(t, { workers: 0, env: { ...env, SESSIONS_DIR: sessionsDir } })
const leavesLoopFree = turnsOf(service, env)
const { client, api } = service

const archives: Record<string, { entry: (at: number) => Buffer, refusal: object }> = {
  'of no name': { entry: () => noName, refusal: { status: 400, message: /^The entry ".\/": is one too many: an archive may have 100000 entries\. / } },
  'of one file each': { entry: at => headerOf({ name: `f${at}` }), refusal: { status: 413, message: /^The entry "f\d+": .* quota of 200000 bytes\. What came before stays: \d+ files/ } },
  'of one directory each': { entry: at => headerOf({ name: `d${at}/`, type: '5' }), refusal: { status: 413, message: /What came before stays: 0 files, \d+ directories/ } }
}
const noName = headerOf({ name: './', type: '5' })

for (const [what, { entry, refusal }] of Object.entries(archives)) {
  void t.test(`promise 10: an archive of ten million entries ${what} ends early, costs no memory and holds up nobody`, async t => {
    await put(await client.session(undefined, { quota_bytes: quotaBytes }), () => headerOf({ name: 'a' }), 2)
    await leavesLoopFree(t, `entries ${what}`, async () => {
      const id = await client.session(undefined, { quota_bytes: quotaBytes })
      const growth = await growthMb(api.child.pid ?? 0, async () => { await endsEarly(t, id, { entry, refusal }) })
      t.ok(growth < mostGrowthMb, `${growth.toFixed(0)} MB`)
      t.ok(readdirSync(join(sessionsDir, id)).every(name => /^[fd]\d+$/.test(name)), 'nothing half made is left')
    })
  })
}

async function endsEarly (t: Test, id: string, { entry, refusal }: { entry: (at: number) => Buffer, refusal: object }): Promise<void> {
  const { status, message, sent } = await put(id, entry, entries)
  t.match({ status, message }, refusal)
  t.ok(sent < entries / 10, `given up after ${sent} entries`)
}

/** Sends an archive as it is made, until there is an answer. */
async function put (id: string, entry: (at: number) => Buffer, count: number): Promise<{ status: number, message: string, sent: number }> {
  let sent = 0
  function * pieces (): Generator<Buffer> {
    while (sent < count) {
      const here = Math.min(piece, count - sent)
      yield Buffer.concat(Array.from({ length: here }, (_, at) => entry(sent + at)))
      sent += here
    }
    yield Buffer.alloc(1_024)
  }
  const body = Readable.from(pieces(), { objectMode: false })
  const sending = request(`${api.address}/v1/sessions/${id}/files?archive=tar`, { method: 'PUT', headers: { 'x-api-key': testKeys.admin } })
  const answered = once(sending, 'response') as Promise<[IncomingMessage]>
  body.pipe(sending)
  const [answer] = await answered
  let text = ''
  for await (const chunk of answer as AsyncIterable<Buffer>) text += chunk.toString()
  body.destroy()
  sending.destroy()
  const { error } = JSON.parse(text) as { error?: { message: string } }
  return { status: answer.statusCode ?? 0, message: error?.message ?? '', sent }
}
