import { grouped } from '@toolyard/contract/terms'
import { type Redis, jobChannel, jobIdOfChannel, jobKey, jobLogKey, whileAvailable, fromRedis, listen, unlisten } from '@toolyard/store'
import type { JobChange } from '../record/log/job-change.ts'

/*
 * How an API process notices changes of a job that somebody looks at.
 *
 * Each watched job is one subscription on the connection that the process has for messages anyway. Messages can be
 * lost; so once a second, and after a reconnect, a sweep reads a few fields of each watched job, and whether its log
 * has a line that its watcher hasn't seen.
 */

export interface WatchedJob {
  id: string
  queue: string
  /** The last line of its log that its watcher has read. */
  lastLogId: () => string
  /** Called in no particular order, and sometimes though nothing changed. */
  onChange: (change: JobChange) => void
}

interface Watched extends WatchedJob {
  /** The job's record when it was looked at last; a job that wasn't looked at counts as changed. */
  seen: string | undefined
}

const sweepIntervalMs = 1_000
/** Jobs that the sweep asks for at once: other commands get their turn in between. */
const sweepChunk = 250
/**
 * Looks at jobs of one queue: a text that changes when the job changes its state, and how many lines (0 or 1) its log
 * has after the one that was read. KEYS: hash and log of each job. ARGV: the last line read of each job. One reply for
 * many jobs costs this process far less than two for each.
 */
const lookScript = `
local found = {}
for i = 1, #ARGV do
  local state = redis.call('HMGET', KEYS[2 * i - 1], 'timestamp', 'processedOn', 'finishedOn', 'ats', 'atm', 'cancelled')
  for field = 1, #state do state[field] = state[field] or '' end
  found[2 * i - 1] = table.concat(state, ' ')
  found[2 * i] = #redis.call('XRANGE', KEYS[2 * i], '(' .. ARGV[i], '+', 'COUNT', 1)
end
return found
`

/** Watches any number of jobs over one subscription connection. */
export class JobWatch {
  readonly #commands: Redis
  readonly #subscriber: Redis
  /** By the job's id: a job may have several watchers. */
  readonly #watched = new Map<string, Set<Watched>>()
  #timer: NodeJS.Timeout | undefined

  constructor (commands: Redis, subscriber: Redis) {
    this.#commands = commands
    this.#subscriber = subscriber
    subscriber.on('message', (channel: string, message: string) => {
      const id = jobIdOfChannel(channel)
      for (const job of this.#watched.get(id ?? '') ?? []) job.onChange(message === 'log' || message === 'progress' ? message : 'job')
    })
    subscriber.on('ready', () => { for (const job of this.#all()) job.onChange('job') })
  }

  /**
   * Watches a job; `onChange` is called for what happened until the subscription stood, too.
   *
   * @returns ends it.
   */
  watch (job: WatchedJob): () => void {
    const watched: Watched = { ...job, seen: undefined }
    const channel = jobChannel(job.id)
    const watchers = this.#watched.get(job.id) ?? new Set()
    this.#watched.set(job.id, watchers.add(watched))
    // While Redis is away the subscription waits for it; a connection that is closed for good needs none.
    listen(this.#subscriber, channel).then(() => this.#look(job.queue, [watched])).catch(() => {})
    this.#schedule()
    return () => {
      watchers.delete(watched)
      if (watchers.size > 0 || this.#watched.get(job.id) !== watchers) return
      this.#watched.delete(job.id)
      unlisten(this.#subscriber, channel).catch(() => {})
    }
  }

  stop (): void {
    clearTimeout(this.#timer)
    this.#watched.clear()
  }

  #schedule (): void {
    this.#timer ??= setTimeout(() => {
      void this.#sweep().finally(() => {
        this.#timer = undefined
        if (this.#watched.size > 0) this.#schedule()
      })
    }, sweepIntervalMs)
  }

  #all (): Watched[] {
    return [...this.#watched.values()].flatMap(watchers => [...watchers])
  }

  async #sweep (): Promise<void> {
    for (const [queue, jobs] of grouped(this.#all(), job => job.queue)) {
      for (let start = 0; start < jobs.length; start += sweepChunk) await this.#look(queue, jobs.slice(start, start + sweepChunk))
    }
  }

  async #look (queue: string, jobs: readonly Watched[]): Promise<void> {
    if (this.#commands.status !== 'ready') return
    const keys = jobs.flatMap(({ id }) => [jobKey(queue, id), jobLogKey(queue, id)])
    const looking = this.#commands.eval(
      lookScript, keys.length, ...keys, ...jobs.map(job => job.lastLogId())
    )
    // While Redis is away there is nothing to be seen; the next sweep looks again.
    const found = fromRedis<Array<string | number> | undefined>(await whileAvailable(looking).catch(() => undefined))
    if (found === undefined) return
    for (const [index, job] of jobs.entries()) {
      // Its watcher may have left meanwhile.
      if (this.#watched.get(job.id)?.has(job) !== true) continue
      const state = String(found[2 * index])
      if (state !== job.seen) job.onChange('job')
      else if (found[2 * index + 1] !== 0) job.onChange('log')
      job.seen = state
    }
  }
}
