import type { Redis } from './connection.ts'
import { jobTypesChannel, jobTypesKey } from './names.ts'
import { subscribe } from './subscription.ts'
import { whileAvailable } from './unavailable.ts'

/** What was switched of a job type; what is absent is as the registry says. */
export interface JobTypeOverride {
  enabled?: boolean
  defaultTimeoutSec?: number
  defaultMaxAttempts?: number
  idempotent?: boolean
}

/** How a table hears of changes, beside reading it. */
export interface JobTypeTableOptions {
  commands: Redis
  subscriber: Redis
  /** Called after the table has changed. */
  onChange?: () => void
}

/** A message can be lost, so the table is read so often anyway: a change is seen within a second. */
const readMs = 500

const fields = [['enabled', 'enabled'], ['timeout', 'defaultTimeoutSec'], ['attempts', 'defaultMaxAttempts'], ['idempotent', 'idempotent']] as const

/**
 * The job types that were switched, as this process knows them: one Redis hash for all processes, a copy in each.
 * While Redis is away, the last copy holds.
 */
export class JobTypeTable {
  readonly #options: JobTypeTableOptions
  #overrides: ReadonlyMap<string, JobTypeOverride> = new Map()
  #seen = '{}'
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor (options: JobTypeTableOptions) {
    this.#options = options
  }

  /** Reads the table and follows it from now on; resolves after the first attempt to read it. */
  async start (): Promise<void> {
    void subscribe(this.#options.subscriber, jobTypesChannel, () => { void this.#read() }).catch(() => {})
    await this.#follow()
  }

  stop (): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  /** What was switched of a type; empty when nothing was. */
  get (type: string): JobTypeOverride {
    return this.#overrides.get(type) ?? {}
  }

  /**
   * Switches what is given, for all processes; this one knows it when the promise is fulfilled.
   *
   * @throws RedisUnavailableError
   */
  async set (type: string, override: JobTypeOverride): Promise<void> {
    const values = fields.flatMap(([field, name]) => override[name] === undefined ? [] : [`${type} ${field}`, String(Number(override[name]))])
    await whileAvailable(this.#options.commands.hset(jobTypesKey, ...values))
    await whileAvailable(this.#options.commands.publish(jobTypesChannel, type))
    await this.#load()
  }

  async #follow (): Promise<void> {
    await this.#read()
    if (!this.#stopped) this.#timer = setTimeout(() => { void this.#follow() }, readMs)
  }

  async #read (): Promise<void> {
    // The connection reports its own errors, and the table is read again soon.
    await this.#load().catch(() => {})
  }

  async #load (): Promise<void> {
    const values = await whileAvailable(this.#options.commands.hgetall(jobTypesKey))
    const seen = JSON.stringify(values)
    if (seen === this.#seen) return
    this.#seen = seen
    this.#overrides = decode(values)
    this.#options.onChange?.()
  }
}

function decode (values: Readonly<Record<string, string>>): Map<string, JobTypeOverride> {
  const overrides = new Map<string, JobTypeOverride>()
  for (const [key, value] of Object.entries(values)) {
    const [type = '', field] = key.split(' ')
    const override = overrides.get(type) ?? {}
    if (field === 'enabled') override.enabled = value === '1'
    if (field === 'timeout') override.defaultTimeoutSec = Number(value)
    if (field === 'attempts') override.defaultMaxAttempts = Number(value)
    if (field === 'idempotent') override.idempotent = value === '1'
    overrides.set(type, override)
  }
  return overrides
}
