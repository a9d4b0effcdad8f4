import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { waitFor } from '../support/condition.ts'

const inside = (path: string): string => import.meta.resolve('@toolyard/api').replace(/index\.js$/, path)
const { JobFeed } = await import(inside('streams/job-feed.js')) as { JobFeed: new (job: object, parts: object) => Feed }
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

interface Feed { add: (stream: object, job: object, logId: string) => () => void, change: (what: string) => void }

/** A reader that keeps nothing of what it is sent. */
function reader (): { stream: { isFull: boolean, [name: string]: unknown }, sent: Array<WeakRef<Buffer>> } {
  const sent: Array<WeakRef<Buffer>> = []
  const send = (frame: Buffer): void => { sent.push(new WeakRef(frame)) }
  return { sent, stream: { isFull: false, send, end: send, sendAll: (frames: Buffer[]) => frames.length } }
}

t.test('what a job is, is in memory until its readers have been sent it, however long they stay', async t => {
  const jobOf = (note: string): object => ({ view: { id: 'a', queue: 'default', status: 'running', input: { text: note.repeat(100_000) } }, result: [Buffer.from('null')] })
  let now = jobOf('x')
  const parts = { jobs: { find: async () => now }, logs: { after: async () => [] }, onError: (error: Error) => { throw error } }
  const feed = new JobFeed(now, parts)
  const readers = [reader(), reader()]
  const slow = reader()
  for (const { stream } of [...readers, slow]) feed.add(stream, now, '0-0')
  await waitFor('both have it', () => readers.every(({ sent }) => sent.length === 1))
  slow.stream.isFull = true
  now = jobOf('y')
  feed.change('job')
  await waitFor('both have what it is now', () => readers.every(({ sent }) => sent.length === 2))
  const isKept = (): boolean => {
    collect()
    return [...readers, slow].some(({ sent }) => sent.some(frame => frame.deref() !== undefined))
  }
  await waitFor('nothing of it is kept', () => !isKept())
  t.equal(slow.sent.length, 1, 'who had no room is not sent it')
  slow.stream.isFull = false
  feed.change('log')
  await waitFor('who has room again is sent it', () => slow.sent.length === 2)
  t.same(readers.map(({ sent }) => sent.length), [2, 2], 'and nobody gets it twice')
  await waitFor('nothing of it is kept either', () => !isKept())
})
