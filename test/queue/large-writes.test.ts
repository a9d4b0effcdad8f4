import { LargeWrites } from '@toolyard/queue'
import fc from 'fast-check'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'

const large = 1_000_000

/** A write that lasts until `end` is called. */
function held (): { write: () => Promise<void>, end: () => void, hasBegun: () => boolean } {
  let end = (): void => {}
  let begun = false
  const over = new Promise<void>(resolve => { end = resolve })
  return {
    write: async () => {
      begun = true
      await over
    },
    end: () => { end() },
    hasBegun: () => begun
  }
}

t.test('a small request is written at once, while large ones of another owner are on their way and wait', async t => {
  const writes = new LargeWrites()
  const others = Array.from({ length: 24 }, held)
  const all = others.map(async other => { await writes.write('loud', large, other.write) })
  t.equal(await writes.write('quiet', 100, async () => await Promise.resolve('written')), 'written')
  t.equal(others.filter(other => other.hasBegun()).length, 2)
  for (const other of others) {
    other.end()
    await turn()
  }
  await Promise.all(all)
})

t.test('owners with large requests take turns, and one writes its own in their order', async t => {
  await fc.assert(fc.asyncProperty(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 30 }), async owners => {
    const writes = new LargeWrites()
    const running: Array<() => void> = []
    const begun: Array<[owner: string, place: number]> = []
    const all = owners.map(async (owner, place) => {
      await writes.write(owner, large, async () => {
        begun.push([owner, place])
        await new Promise<void>(resolve => { running.push(resolve) })
      })
    })
    for (let ended = 0; ended < owners.length; ended++) {
      await turn()
      if (running.length > 2) throw new Error('more than two are on their way')
      const waiting = owners.map((owner, place) => ({ owner, place })).filter(({ place }) => !begun.some(([, known]) => known === place))
      if (running.length < 2 && waiting.length > 0) throw new Error('one waits in vain')
      running.shift()?.()
    }
    await Promise.all(all)
    for (const owner of new Set(owners)) {
      const own = begun.filter(([name]) => name === owner).map(([, place]) => place)
      if (!own.every((place, at) => at === 0 || place > (own[at - 1] ?? 0))) throw new Error(`those of ${owner} were not in order`)
    }
    // After the first two, nobody begins twice while another one waits who hasn't begun since.
    for (let at = 3; at < begun.length; at++) {
      const [owner] = begun[at] ?? ['']
      const [before] = begun[at - 1] ?? ['']
      const others = begun.slice(at + 1).some(([name]) => name !== owner)
      if (owner === before && others) {
        throw new Error(`${owner} had two turns while another one waited: ${JSON.stringify(begun)}`)
      }
    }
  }))
})

t.test('a write that fails leaves its place to the next one', async t => {
  const writes = new LargeWrites()
  const failing = Array.from({ length: 3 }, async () => await writes.write('a', large, async () => await Promise.reject(new Error('no'))))
  t.strictSame((await Promise.allSettled(failing)).map(({ status }) => status), ['rejected', 'rejected', 'rejected'])
  t.equal(await writes.write('a', large, async () => await Promise.resolve(1)), 1)
})

t.test('a large request whose turn doesn\'t come in two seconds is refused, and nothing of it is written', async t => {
  const writes = new LargeWrites()
  const [first, second, third] = [held(), held(), held()]
  const all = [first, second].map(async other => { await writes.write('a', large, other.write) })
  await t.rejects(writes.write('b', large, third.write), { name: 'RedisUnavailableError' })
  t.notOk(third.hasBegun())
  first.end()
  second.end()
  await Promise.all(all)
  t.equal(await writes.write('b', large, async () => await Promise.resolve(1)), 1, 'its place in the line is gone')
})
