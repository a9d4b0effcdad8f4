import { asError } from '@toolyard/contract/terms'
import { BatchedScript, eachCall, type ScriptCall, type Redis, ReplicasMissingError, type Replicas } from '@toolyard/store'
import { unbegunField } from './scripts/job-scripts.ts'

/**
 * ARGV: the token of who runs the job, and the time. Answers whether they hold it. Those who took it before didn't run
 * it, and don't count; one that is just being given back stays uncounted. It always writes: a connection can then wait until
 * replicas have it.
 */
const beginScript = new BatchedScript('begin', eachCall(`
if redis.call('GET', KEYS[1] .. ':lock') ~= ARGV[1] then return 0 end
local isFirst = redis.call('HDEL', KEYS[1], '${unbegunField}') == 1
redis.call('HSET', KEYS[1], 'processedOn', ARGV[2])
if isFirst then
  local runs = redis.call('HMGET', KEYS[1], 'ats', 'atm')
  local begun = tonumber(runs[2] or '0') + 1
  if tonumber(runs[1]) > begun then redis.call('HSET', KEYS[1], 'ats', begun) end
end
return 1
`))

interface Beginning {
  call: ScriptCall
  resolve: (reply: unknown) => void
  reject: (error: unknown) => void
}

/** Calls that one command makes, and one `WAIT` waits for. */
const mostCalls = 50

export class Beginnings {
  readonly #redis: Redis
  readonly #replicas: Replicas | undefined
  #waiting: Beginning[] = []
  #isRunning = false

  constructor (redis: Redis, replicas: Replicas | undefined) {
    this.#redis = redis
    this.#replicas = replicas
  }

  /** Whether a beginning must be on replicas before a tool runs that may run only once. */
  get areReplicated (): boolean {
    return (this.#replicas?.needed ?? 0) > 0
  }

  /** Whether the job is still its worker's; `call` is for `beginScript`. */
  async note (call: ScriptCall): Promise<boolean> {
    const [reply] = await beginScript.run(this.#redis, [call])
    return isHeld(reply)
  }

  /**
   * The same, but waits until as many replicas as needed have the note. Notes that come while others are on their way are
   * sent together.
   *
   * @throws ReplicasMissingError
   */
  async noteSafely (call: ScriptCall): Promise<boolean> {
    const replicas = this.#replicas
    if (replicas === undefined || !this.areReplicated) return await this.note(call)
    return isHeld(await new Promise((resolve, reject) => {
      this.#waiting.push({ call, resolve, reject })
      if (this.#isRunning) return
      this.#isRunning = true
      process.nextTick(() => { void this.#sendAll(replicas) })
    }))
  }

  async #sendAll (replicas: Replicas): Promise<void> {
    while (this.#waiting.length > 0) {
      const sent = this.#waiting.splice(0, mostCalls)
      try {
        const [replies] = await replicas.run([{ script: beginScript, calls: sent.map(({ call }) => call) }])
        for (const [place, { resolve }] of sent.entries()) resolve(replies?.[place])
      } catch (error) {
        const missing = error instanceof ReplicasMissingError ? error : new ReplicasMissingError(asError(error).message)
        for (const { reject } of sent) reject(missing)
      }
    }
    this.#isRunning = false
  }
}

function isHeld (reply: unknown): boolean {
  if (reply instanceof Error) throw reply
  return reply === 1
}
