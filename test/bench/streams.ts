import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import type { Cleanup } from '../support/cleanup.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys, type Service } from '../support/service.ts'
import { openReader, type EventReader } from '../streams/event-reader.ts'
import type { Row } from './report.ts'

const streams = 2_000
const jobs = 1_000

/** What 2,000 open streams of jobs cost one API process, and how soon all of them have ended with their jobs. */
export async function benchStreams (cleanup: Cleanup): Promise<Row[]> {
  const service = await createService(cleanup, { workers: 0, env: { LOG_LEVEL: 'warn' } })
  const redis = new Redis(service.redis.socket)
  cleanup.teardown(() => { redis.disconnect() })
  const connections = async (): Promise<number> => (await redis.call('CLIENT', 'LIST') as string).trim().split('\n').length
  const ids = await submit(service)
  // Once around, so that what is measured is the streams and not the first use of the code.
  await (await openStreams(cleanup, service, ids.slice(0, 20), 20)).close()
  const before = { memory: residentMb(service), connections: await connections() }
  const { readers } = await openStreams(cleanup, service, ids, streams)
  const after = { memory: residentMb(service), connections: await connections() }

  const startedAt = performance.now()
  await service.startWorker()
  await waitFor('all streams have ended', () => readers.every(reader => reader.events.at(-1)?.name === 'end'), 120_000)
  const seconds = (performance.now() - startedAt) / 1_000
  const row = (what: string, toolyard: string, aim: string): Row => ({ what, bare: '', toolyard, ratio: '', aim })
  return [
    row(`${streams} open streams: resident memory of the API, MB more`, (after.memory - before.memory).toFixed(0), 'below 50'),
    row(`${streams} open streams: connections to Redis more`, String(after.connections - before.connections), '0'),
    row(`${jobs} jobs run, ${streams} streams have ended, s (with the start of the worker)`, seconds.toFixed(1), '')
  ]
}

async function submit ({ client }: Service): Promise<string[]> {
  const calls = Array.from({ length: 20 }, (_, index) => ({ call_id: `c${index}`, name: 'data_file_read', arguments: { path: 'README.md' } }))
  const ids: string[] = []
  while (ids.length < jobs) ids.push(...(await client.batch(calls, { mode: 'async' })).results.map(result => result.job_id ?? ''))
  return ids
}

async function openStreams (
  cleanup: Cleanup, { api }: Service, ids: readonly string[], count: number
): Promise<{ readers: EventReader[], close: () => Promise<void> }> {
  const readers: EventReader[] = []
  while (readers.length < count) {
    const open = Array.from({ length: 20 }, (_, index) => openReader(cleanup, `${api.address}/v1/jobs/${ids[(readers.length + index) % ids.length]}/stream`, { key: testKeys.read }))
    readers.push(...await Promise.all(open))
  }
  for (const reader of readers) await reader.next('job_update')
  return {
    readers,
    close: async () => {
      for (const reader of readers) reader.close()
      for (const reader of readers) await reader.ended()
    }
  }
}

function residentMb ({ api }: Service): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${api.child.pid}/status`, 'utf8'))?.[1]) / 1_024
}
