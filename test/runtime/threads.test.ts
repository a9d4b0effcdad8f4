import { Threads } from '@toolyard/runtime/threads'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import type { HeldWork } from './held-thread.ts'

const file = new URL('held-thread.js', import.meta.url)

/** Work of one owner, all of which lasts until `end` is called. */
function held (): { task: HeldWork, begun: () => number, end: () => void } {
  const [begun, gate] = [new SharedArrayBuffer(4), new SharedArrayBuffer(4)]
  return {
    task: { begun, gate },
    begun: () => Atomics.load(new Int32Array(begun), 0),
    end: () => {
      Atomics.store(new Int32Array(gate), 0, 1)
      Atomics.notify(new Int32Array(gate), 0)
    }
  }
}

t.test('an owner has so many threads at once, and those of another one begin meanwhile', async t => {
  const threads = new Threads(file, undefined, { mostOfOwner: 2 })
  t.teardown(async () => { await threads.close() })
  const [loud, quiet] = [held(), held()]
  const all = Array.from({ length: 6 }, async () => await threads.run({ kind: 'hold', task: loud.task }, { ms: 60_000, owner: 'loud' }))
  const one = threads.run({ kind: 'hold', task: quiet.task }, { ms: 60_000, owner: 'quiet' })
  await waitFor('two of one and one of the other have begun', () => loud.begun() === 2 && quiet.begun() === 1)
  quiet.end()
  t.equal(await one, 'done')
  t.equal(loud.begun(), 2)
  loud.end()
  t.strictSame(await Promise.all(all), Array.from({ length: 6 }, () => 'done'))
})

t.test('where all have so many threads together, owners take turns, and work that is given up leaves its line', async t => {
  const threads = new Threads(file, undefined, { most: 1 })
  t.teardown(async () => { await threads.close() })
  const [first, second, third, quiet] = [held(), held(), held(), held()]
  const given = new AbortController()
  const run = async ({ task }: { task: HeldWork }, owner: string, signal?: AbortSignal): Promise<unknown> =>
    await threads.run({ kind: 'hold', task }, { ms: 60_000, owner, ...(signal === undefined ? {} : { signal }) })
  const loud = run(first, 'loud')
  const left = run(first, 'loud', given.signal)
  const others = [run(second, 'loud'), run(third, 'loud'), run(quiet, 'quiet')]
  await waitFor('the first has begun', () => first.begun() === 1)
  given.abort(new Error('given up'))
  await t.rejects(left, { message: 'given up' })
  first.end()
  t.equal(await loud, 'done')
  await waitFor('the next of the loud one has begun', () => second.begun() === 1)
  second.end()
  await waitFor('the quiet one has begun', () => quiet.begun() === 1)
  t.equal(third.begun() + first.begun(), 1, 'before the last of the loud one')
  quiet.end()
  third.end()
  t.strictSame(await Promise.all(others), ['done', 'done', 'done'])
})
