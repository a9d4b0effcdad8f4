import { mapInTurns } from '@toolyard/runtime'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'

t.test('of many who go through something long at once, one goes on in each turn of the event loop', async t => {
  let pieces = 0
  const work = async (): Promise<void> => {
    let last = -1
    await mapInTurns(Array.from({ length: 5 }), () => {
      const until = performance.now() + 6
      while (performance.now() < until) { /* It takes longer than one share. */ }
      last += 1
      if (last > 0) pieces += 1
    })
  }
  let isOver = false
  const all = Promise.all(Array.from({ length: 20 }, work)).then(() => { isOver = true })
  const seen: number[] = []
  // eslint-disable-next-line no-unmodified-loop-condition -- The end of the work sets it.
  for (let before = pieces; !isOver; before = pieces) {
    await turn()
    seen.push(pieces - before)
  }
  await all
  t.equal(pieces, 80)
  t.equal(Math.max(...seen), 1)
})
