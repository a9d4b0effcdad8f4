import { JobLister } from '@toolyard/queue'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'

const id = '01a00000-0000-7000-8000-000000000000'
let taken = 0
// A rest holds up no end of a process.
const alive = setInterval(() => {}, 1_000)
t.teardown(() => { clearInterval(alive) })

/** Each piece of the index of one queue takes a while; that of the other is empty. */
const parts = {
  directory: { list: async () => ['long', 'short'] },
  queues: {
    index: {
      find: async ([queue]: string[]) => {
        if (queue === 'short') return { jobs: [], passed: undefined }
        const begun = performance.now()
        await delay(20)
        taken += performance.now() - begun
        return { jobs: [], passed: id }
      }
    }
  }
} as unknown as ConstructorParameters<typeof JobLister>[0]

t.test('an owner whose lists take long leaves Redis half of the time to others, and its lists alone rest', async t => {
  const lister = new JobLister(parts)
  const begun = performance.now()
  const lists = Array.from({ length: 2 }, async () => await lister.list({ queue: 'long', limit: 1 }, {}, { owner: 'acme' }))
  let isDone = false
  const all = Promise.all(lists).then(pages => {
    isDone = true
    return pages
  })
  await delay(3_000)
  await lister.list({ queue: 'short', limit: 1 }, {}, { owner: 'bravo' })
  t.notOk(isDone, 'the list of another does not wait for them')
  t.ok((await all).every(({ nextCursor }) => nextCursor !== null), 'each has a page')
  const wall = performance.now() - begun
  t.ok(taken < 500 + wall / 2 + 500, `pieces took ${Math.round(taken)} of ${Math.round(wall)} ms`)
})

t.test('a list that rests ends when its client goes', async t => {
  const lister = new JobLister(parts)
  const gone = new AbortController()
  const asker = { owner: 'acme', signal: gone.signal }
  const lists = Promise.allSettled(Array.from({ length: 4 }, async () => await lister.list({ queue: 'long', limit: 1 }, {}, asker)))
  await delay(1_500)
  gone.abort()
  t.match(await lists, Array.from({ length: 4 }, () => ({ status: 'rejected', reason: { name: 'TurnMissedError' } })))
})
