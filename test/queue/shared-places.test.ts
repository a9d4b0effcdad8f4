import { SharedPlaces } from '@toolyard/queue'
import fc from 'fast-check'
import t from 'tap'

/** A step of the queue of this number. */
type Step =
  /** It wants a place, unless it stands in line. */
  | { kind: 'want', queue: number }
  /** A job of it ends, and it has another one. */
  | { kind: 'end', queue: number }
  /** It has a place, and no job for it. */
  | { kind: 'leave', queue: number }
  /** It closes while it stands in line. */
  | { kind: 'close', queue: number }

interface Queue {
  held: number
  waits: AbortController | undefined
  /** Jobs of other queues that have ended since it stands in line without a place. */
  endsOfOthers: number
}

const step = (queues: number): fc.Arbitrary<Step> => {
  const queue = fc.nat(queues - 1)
  return fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('want' as const), queue }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('end' as const), queue }) },
    fc.record({ kind: fc.constant('leave' as const), queue }),
    fc.record({ kind: fc.constant('close' as const), queue })
  )
}

const scenario = fc.record({ total: fc.integer({ min: 1, max: 6 }), queues: fc.integer({ min: 1, max: 8 }) })
  .chain(size => fc.array(step(size.queues), { maxLength: 120 }).map(steps => ({ ...size, steps })))

t.test('a queue without a place gets one after fewer ends of other jobs than there are queues, and no more places are taken than there are', async t => {
  await fc.assert(fc.asyncProperty(scenario, async ({ total, queues: count, steps }) => {
    const places = new SharedPlaces(total)
    const queues = Array.from({ length: count }, (): Queue => ({ held: 0, waits: undefined, endsOfOthers: 0 }))
    const nameOf = (queue: Queue): string => `q${queues.indexOf(queue)}`
    const want = (queue: Queue): void => {
      if (queue.waits !== undefined) return
      const waits = queue.waits = new AbortController()
      queue.endsOfOthers = 0
      void places.take(nameOf(queue), waits.signal).then(isTaken => {
        if (queue.waits === waits) queue.waits = undefined
        if (isTaken) queue.held += 1
      })
    }
    const leave = (queue: Queue): void => {
      queue.held -= 1
      places.leave(nameOf(queue))
    }
    for (const { kind, queue: at } of steps) {
      const queue = queues[at]
      if (queue === undefined) throw new Error('no such queue')
      const isHeld = queue.held > 0
      if (kind === 'want') want(queue)
      else if (kind === 'close') queue.waits?.abort()
      else if (isHeld && (kind === 'leave' || !places.mayKeep(nameOf(queue)))) leave(queue)
      if (kind === 'end' && isHeld) for (const other of queues) if (other !== queue && other.held === 0) other.endsOfOthers += 1
      await new Promise(resolve => { setImmediate(resolve) })

      const held = queues.reduce((sum, queue) => sum + queue.held, 0)
      if (held > total) throw new Error(`${held} of ${total} places are taken`)
      const waiting = queues.filter(({ waits }) => waits !== undefined)
      if (waiting.length > 0 && (held < total || places.hasFree)) throw new Error('a queue waits though a place is free')
      for (const { held, endsOfOthers } of waiting) if (held === 0 && endsOfOthers >= count) throw new Error(`a queue without a place has seen ${endsOfOthers} ends`)
    }
  }), { numRuns: 300 })
  t.pass('in all scenarios')
})

t.test('slow jobs of one queue take no more than its share while another queue wants places', async t => {
  const places = new SharedPlaces(4)
  const { signal } = new AbortController()
  for (let place = 0; place < 4; place++) await places.take('slow', signal)
  const took: string[] = []
  const want = (queue: string): void => { void places.take(queue, signal).then(() => took.push(queue)) }
  for (let round = 0; round < 4; round++) {
    want('slow')
    want('quick')
    places.leave(round < 2 ? 'slow' : 'quick')
    await new Promise(resolve => { setImmediate(resolve) })
  }
  t.same(took, ['quick', 'quick', 'quick', 'quick'])
})
