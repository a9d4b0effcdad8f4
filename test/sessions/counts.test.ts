import { SessionCounts } from '@toolyard/workspace'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'

t.test('a file that takes its place while a session is counted is in the count', async t => {
  const dir = t.testdir({})
  for (let n = 0; n < 2_000; n++) writeFileSync(join(dir, `empty-${n}`), '')
  const counts = new SessionCounts()
  const session = { id: 'a', dir, quotaBytes: 10_000_000 }
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
