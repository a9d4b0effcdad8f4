import { SessionCounts, SessionQuota, WorkspaceFailure, type Addition, type CountedSession } from '@toolyard/workspace'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'

t.test('a file that takes its place while a session is counted is in the count', async t => {
  const dir = t.testdir({})
  for (let n = 0; n < 2_000; n++) writeFileSync(join(dir, `empty-${n}`), '')
  const counts = new SessionCounts()
  const session = { id: 'a', tenant: undefined, dir, quotaBytes: 10_000_000 }
  const empty = await counts.count(session)
  const size = 1_000_000
  writeFileSync(join(dir, 'large-0'), Buffer.alloc(size, 'x'))
  let least = Infinity
  for (let move = 0; move < 60; move++) {
    const counted = counts.count(session)
    // At any point of the walk, from any place to any other.
    for (let wait = move % 6; wait > 0; wait--) await nextTurn()
    const placed = counts.move('a', size)
    renameSync(join(dir, `large-${move}`), join(dir, `large-${move + 1}`))
    placed()
    least = Math.min(least, await counted)
  }
  t.ok(least >= empty + size, `${least} of ${empty + size}`)
  t.equal(await counts.count(session), least, 'and only once')
})

const place = (t: Test, id = 'a'): CountedSession => ({ id, tenant: undefined, dir: t.testdir({}), quotaBytes: 1_000_000 })
const upload = (coming: number): Addition => ({ coming, entries: 0, replaced: 0 })

t.test('bytes that are counted and not yet written are in the count, and in the next ones only once', async t => {
  const quota = new SessionQuota(new SessionCounts())
  const session = place(t)
  for (let file = 0; file < 3; file++) (await quota.allow(session, upload(300_000))).add(100_000)
  await t.rejects(quota.allow(session, upload(300_000)), WorkspaceFailure)
  await t.rejects(quota.allow(session, upload(100_001)), WorkspaceFailure)
  await t.resolves(quota.allow(session, upload(100_000)))
})

t.test('bytes that come just after a count have their room, when its result decides about another upload', async t => {
  for (let turns = 0; turns < 40; turns++) {
    const quota = new SessionQuota(new SessionCounts())
    const session = place(t, String(turns))
    const first = await quota.allow(session, upload(300_000))
    let isLetIn = false
    const second = quota.allow(session, upload(800_000)).then(() => { isLetIn = true }, () => {})
    for (let left = turns; left > 0; left--) await Promise.resolve()
    first.add(300_000)
    await second
    t.notOk(isLetIn, `after ${turns}`)
  }
})
