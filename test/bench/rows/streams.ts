import { waitFor } from '../../support/condition.ts'
import { createService, testKeys, type Service } from '../../support/service.ts'
import { openReader, type EventReader } from '../../streams/event-reader.ts'
import { plainRedis } from '../../support/connection.ts'
import { valueAtMost, type Setting, type Stage } from '../frame/row.ts'
import { residentKb } from '../resident.ts'

const jobs = 1_000

/** The cost of 2,000 open streams of jobs for one API process, and how soon all of them have ended with their jobs. */
export const streams: Stage = {
  title: '2,000 open event streams',
  isHeavy: true,
  rows: {
    'streams-memory': { what: 'resident memory of the API for all of them', unit: 'MB', target: valueAtMost(50) },
    'streams-connections': { what: 'connections to Redis for all of them', unit: 'number', target: valueAtMost(0) },
    'streams-end': { what: `${jobs.toLocaleString('en-US')} jobs run and all streams end, with the start of the worker`, unit: 's' }
  },
  open: async ({ cleanup, size }) => {
    const service = await createService(cleanup, { workers: 0, env: { LOG_LEVEL: 'warn' } })
    const redis = plainRedis(cleanup, service.redis)
    const state = async (): Promise<{ mb: number, connections: number }> => (
      { mb: residentKb(service.api.child.pid) / 1_024, connections: (await redis.call('CLIENT', 'LIST') as string).trim().split('\n').length }
    )
    const ids = await submit(service, size(jobs, 20))
    // Once around, so that what is measured is the streams and not the first use of the code.
    const first = await openStreams(cleanup, service, ids.slice(0, 20), 20)
    for (const reader of first) reader.close()
    for (const reader of first) await reader.ended()
    const before = await state()
    const readers = await openStreams(cleanup, service, ids, size(2_000, 40))
    const after = await state()
    // A process grows once, and a stream ends once.
    return {
      'streams-memory': { subject: async () => after.mb - before.mb, rounds: 1 },
      'streams-connections': { subject: async () => after.connections - before.connections, rounds: 1 },
      'streams-end': {
        subject: async () => {
          const startedAt = performance.now()
          await service.startWorker()
          await waitFor('all streams have ended', () => readers.every(reader => reader.events.at(-1)?.name === 'end'), 120_000)
          return (performance.now() - startedAt) / 1_000
        },
        rounds: 1
      }
    }
  }
}

async function submit ({ client }: Service, count: number): Promise<string[]> {
  const calls = Array.from({ length: 20 }, (_, index) => ({ call_id: `c${index}`, name: 'data_file_read', arguments: { path: 'README.md' } }))
  const ids: string[] = []
  while (ids.length < count) ids.push(...(await client.batch(calls, { mode: 'async' })).results.map(result => result.job_id ?? ''))
  return ids
}

async function openStreams (cleanup: Setting['cleanup'], { api }: Service, ids: readonly string[], count: number): Promise<EventReader[]> {
  const readers: EventReader[] = []
  while (readers.length < count) {
    const open = Array.from({ length: 20 }, (_, index) => openReader(cleanup, `${api.address}/v1/jobs/${ids[(readers.length + index) % ids.length]}/stream`, { key: testKeys.read }))
    readers.push(...await Promise.all(open))
  }
  for (const reader of readers) await reader.next('job_update')
  return readers
}
