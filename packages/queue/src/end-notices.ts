import type { Redis } from './connection.ts'
import { jobChannel, jobKey, replyChannel } from './names.ts'

/** Whether a job's end was told: not, as it has not ended; or yes, and whether other jobs depend on it. */
export type Told = 'no' | 'yes' | 'dependents'

/** A job that is about to end. */
export interface EndingJob {
  id: string
  /** The API process that waits for it. */
  replyTo: string | undefined
}

/**
 * KEYS: jobs of one queue. ARGV: for each of them its id, the channel of those who watch it, and the one of the API
 * process that waits for it, or nothing. Tells of those that have ended what their records say.
 */
const tellScript = `
local told = {}
for place, key in ipairs(KEYS) do
  local id, watched, awaited = ARGV[3 * place - 2], ARGV[3 * place - 1], ARGV[3 * place]
  local record = redis.call('HMGET', key, 'finishedOn', 'returnvalue', 'failedReason')
  if record[1] then
    redis.call('PUBLISH', watched, 'job')
    if awaited ~= '' then
      redis.call('PUBLISH', awaited, id .. (record[2] and '+' .. record[2] or '-' .. (record[3] or '')))
    end
    told[place] = 1 + redis.call('EXISTS', key .. ':dependents')
  else
    told[place] = 0
  end
end
return told
`
const answers: readonly Told[] = ['no', 'yes', 'dependents']

/**
 * Tells of the ends of a queue's jobs, those of one turn of the event loop with one command. It goes out right behind
 * what settles them and finds them settled, so that whoever waits for a job need not wait until this process knows.
 */
export class EndNotices {
  readonly #redis: Redis
  readonly #queue: string
  #ending: Array<EndingJob & { resolve: (told: Told) => void }> = []

  constructor (redis: Redis, queue: string) {
    this.#redis = redis
    this.#queue = queue
  }

  /** To be called in the turn in which the job is settled. Never rejected: what could not be told was not. */
  async tell (job: EndingJob): Promise<Told> {
    return await new Promise<Told>(resolve => {
      this.#ending.push({ ...job, resolve })
      if (this.#ending.length === 1) process.nextTick(() => { void this.#flush() })
    })
  }

  async #flush (): Promise<void> {
    const ending = this.#ending
    this.#ending = []
    const keys = ending.map(({ id }) => jobKey(this.#queue, id))
    const channels = ending.flatMap(({ id, replyTo }) => [id, jobChannel(id), replyTo === undefined ? '' : replyChannel(replyTo)])
    const told = await this.#redis.eval(tellScript, keys.length, ...keys, ...channels).catch(() => []) as number[]
    for (const [place, { resolve }] of ending.entries()) resolve(answers[told[place] ?? 0] ?? 'no')
  }
}
