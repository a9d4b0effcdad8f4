import type { Tool } from '@toolyard/manifests'
import { newJobId, type SessionLeases, type SessionStay } from '@toolyard/store'
import type { Logger } from '@toolyard/runtime'
import { SessionWorkspaces, type WorkspaceWish } from '@toolyard/worker'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'

/* What becomes of a call in a session whose files take longer to be counted than the call may take. */

const session = { id: newJobId(), tenant: undefined, from: undefined, quotaBytes: 1e9 } as unknown as SessionStay['session']
const success = { ok: true, output: 'x' } as const
const sample = { name: 'sample', run: { kind: 'command' } } as Tool

/** Rooms of one session, which has so many files that counting them takes many turns of the event loop. */
function open (t: Test): { rooms: SessionWorkspaces, left: () => number, usages: number[] } {
  const dir = mkdtempSync(join(tmpdir(), 'toolyard-rooms-'))
  t.teardown(() => { rmSync(dir, { recursive: true, force: true }) })
  mkdirSync(join(dir, session.id))
  for (let file = 0; file < 3_000; file++) writeFileSync(join(dir, session.id, String(file)), '')
  const usages: number[] = []
  let left = 0
  const leases = {
    enter: async (): Promise<SessionStay> => ({
      session, signal: new AbortController().signal, noteUsage: bytes => { usages.push(bytes) }, leave: () => { left++ }
    }),
    stop: () => {}
  } as unknown as SessionLeases
  const rooms = new SessionWorkspaces({ leases, places: { dir, templatesDir: undefined }, logger: { warn: () => {} } as unknown as Logger })
  t.teardown(() => { rooms.stop() })
  return { rooms, left: () => left, usages }
}
const wish = (signal: AbortSignal): WorkspaceWish => (
  { session: session.id, tenant: undefined, writes: true, frees: false, signal, timeoutMs: 60_000 }
)

void t.test('a call that is cancelled while the files are counted before it ends as cancelled', async t => {
  const { rooms, left, usages } = open(t)
  const cancel = new AbortController()
  const entering = rooms.enter(wish(cancel.signal))
  setImmediate(() => { cancel.abort() })
  t.match(await entering, { error: { code: 'JOB_CANCELLED' } })
  t.same({ left: left(), usages }, { left: 1, usages: [] })
})

void t.test('a call that is cancelled while its files are counted ends as cancelled, and the next call counts them', async t => {
  const { rooms, usages } = open(t)
  const cancel = new AbortController()
  const room = await rooms.enter(wish(cancel.signal))
  if ('error' in room) return t.fail(room.error.message)
  setImmediate(() => { cancel.abort() })
  t.match(await room.settled(success, sample, 'job-1'), { ok: false, error: { code: 'JOB_CANCELLED' } })
  room.leave()
  t.equal(usages.length, 1)
  t.match(await rooms.enter(wish(new AbortController().signal)), { place: { id: session.id } })
  t.equal(usages.length, 2)
})
