import { grouped } from '@toolyard/contract/terms'
import { nextTurn } from '@toolyard/runtime'
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
/** Watchers that hear of a change in one turn of the event loop: what they do then takes longer than to tell them. */
const toldInTurn = 100
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
      const watchers = this.#watched.get(jobIdOfChannel(channel) ?? '') ?? []
      void this.#tell([...watchers], message === 'log' || message === 'progress' ? message : 'job')
    })
    subscriber.on('ready', () => { void this.#tell(this.#all(), 'job') })
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
    listen(this.#subscriber, channel).then(() => this.#look(job.queue, [[watched]])).catch(() => {})
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
    const all = [...this.#watched.values()].flatMap(watchers => [...grouped(watchers, job => job.lastLogId()).values()])
    for (const [queue, alike] of grouped(all, ([first]) => first?.queue ?? '')) {
      for (let start = 0; start < alike.length; start += sweepChunk) await this.#look(queue, alike.slice(start, start + sweepChunk))
    }
  }

  /** Looks at jobs once for all watchers of each that have read the same lines of its log. */
  async #look (queue: string, alike: ReadonlyArray<readonly Watched[]>): Promise<void> {
    if (this.#commands.status !== 'ready') return
    const asked = alike.flatMap(([first]) => first ?? [])
    const keys = asked.flatMap(({ id }) => [jobKey(queue, id), jobLogKey(queue, id)])
    const looking = this.#commands.eval(
      lookScript, keys.length, ...keys, ...asked.map(job => job.lastLogId())
    )
    // While Redis is away there is nothing to be seen; the next sweep looks again.
    const found = fromRedis<Array<string | number> | undefined>(await whileAvailable(looking).catch(() => undefined))
    if (found === undefined) return
    for (const [index, watchers] of alike.entries()) {
      const state = String(found[2 * index])
      await this.#tell(watchers.filter(({ seen }) => seen !== state), 'job')
      if (found[2 * index + 1] !== 0) await this.#tell(watchers.filter(({ seen }) => seen === state), 'log')
      for (const watched of watchers) watched.seen = state
    }
  }

  /** Any number may watch one job. Some of them may have left meanwhile. */
  async #tell (watchers: readonly Watched[], change: JobChange): Promise<void> {
    for (const [at, watched] of watchers.entries()) {
      if (at > 0 && at % toldInTurn === 0) await nextTurn()
      if (this.#watched.get(watched.id)?.has(watched) === true) watched.onChange(change)
    }
  }
}
