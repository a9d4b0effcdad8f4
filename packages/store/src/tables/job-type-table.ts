import type { Redis } from '../redis/connection.ts'
import { jobTypesChannel, jobTypesKey } from '../redis/names.ts'
import { SharedHash } from './shared-hash.ts'
import { whileAvailable } from '../redis/unavailable.ts'

/** Absent parts are as the registry says. */
export interface JobTypeOverride {
  enabled?: boolean
  defaultTimeoutSec?: number
  defaultMaxAttempts?: number
  idempotent?: boolean
  /** Processes that wait ready in each worker; 0 for none. */
  warm?: number | 'auto'
}

/** How a table learns of changes, beside reading it. */
interface JobTypeTableOptions {
  commands: Redis
  subscriber: Redis
  onChange?: () => void
}

const fields = [['enabled', 'enabled'], ['timeout', 'defaultTimeoutSec'], ['attempts', 'defaultMaxAttempts'], ['idempotent', 'idempotent'], ['warm', 'warm']] as const

/** The job types that were switched, as this process knows them. */
export class JobTypeTable extends SharedHash {
  readonly #onChange: (() => void) | undefined
  #overrides: ReadonlyMap<string, JobTypeOverride> = new Map()

  constructor ({ commands, subscriber, onChange }: JobTypeTableOptions) {
    super({ commands, subscriber, key: jobTypesKey, channel: jobTypesChannel })
    this.#onChange = onChange
  }

  protected override changed (values: Readonly<Record<string, string>>): void {
    this.#overrides = decode(values)
    this.#onChange?.()
  }

  /** Empty when nothing of the type was switched. */
  get (type: string): JobTypeOverride {
    return this.#overrides.get(type) ?? {}
  }

  /**
   * Switches what is given, for all processes; this one knows it when the promise is fulfilled.
   *
   * @throws RedisUnavailableError
   */
  async set (type: string, override: JobTypeOverride): Promise<void> {
    const values = fields.flatMap(([field, name]) => {
      const value = override[name]
      return value === undefined ? [] : [`${type} ${field}`, value === 'auto' ? value : String(Number(value))]
    })
    await whileAvailable(this.commands.hset(jobTypesKey, ...values))
    await this.announce()
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
    if (field === 'warm') override.warm = value === 'auto' ? value : Number(value)
    overrides.set(type, override)
  }
  return overrides
}
