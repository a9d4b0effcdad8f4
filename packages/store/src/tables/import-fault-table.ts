import { isRecord, firstChars } from '@toolyard/contract/terms'
import type { Redis } from '../redis/connection.ts'
import { importFaultsChannel, importFaultsKey } from '../redis/names.ts'
import { readStored } from '../redis/stored.ts'
import { SharedHash } from './shared-hash.ts'
import { whileAvailable } from '../redis/unavailable.ts'

/** Why a declaration of a Python tool can't be loaded. */
export interface SharedImportFault {
  what: 'module' | 'class' | 'construction'
  reason: string
  /** The Python that tried it. */
  python?: string
}

function isFault (value: unknown): value is SharedImportFault {
  return isRecord(value) && typeof value['reason'] === 'string' && ['module', 'class', 'construction'].some(what => value['what'] === what)
}

/** How a table learns of changes, beside reading it. */
interface ImportFaultTableOptions {
  commands: Redis
  subscriber: Redis
  onChange: (faults: ReadonlyMap<string, SharedImportFault>) => void
}

/** Faults that no worker confirms any more are forgotten. */
const keptSec = 60
const reasonChars = 500

/** A fault that was taken back meanwhile stays away. */
const confirmScript = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
return 1
`

/**
 * Imports that failed in workers, as this process knows them. One worker reports a fault, and any that can import the module
 * takes it back.
 */
export class ImportFaultTable extends SharedHash {
  readonly #onChange: ImportFaultTableOptions['onChange']
  #faults: ReadonlyMap<string, SharedImportFault> = new Map()

  constructor ({ commands, subscriber, onChange }: ImportFaultTableOptions) {
    super({ commands, subscriber, key: importFaultsKey, channel: importFaultsChannel })
    this.#onChange = onChange
  }

  protected override changed (values: Readonly<Record<string, string>>): void {
    this.#faults = new Map(Object.entries(values).map(([key, text]) => [key, readStored('a fault of an import', text, isFault)]))
    this.#onChange(this.#faults)
  }

  /** By the key of the declaration. */
  current (): ReadonlyMap<string, SharedImportFault> {
    return this.#faults
  }

  /**
   * Reports a fault that this worker has found.
   *
   * @throws RedisUnavailableError
   */
  async report (key: string, fault: SharedImportFault): Promise<void> {
    await whileAvailable(this.commands.multi().hset(importFaultsKey, key, encode(fault)).expire(importFaultsKey, keptSec).exec())
    await this.announce()
  }

  /**
   * Says that a fault in the table is still there.
   *
   * @throws RedisUnavailableError
   */
  async confirm (key: string, fault: SharedImportFault): Promise<void> {
    await whileAvailable(this.commands.eval(confirmScript, 1, importFaultsKey, key, encode(fault), keptSec))
  }

  /**
   * Takes a fault back: the module can be imported.
   *
   * @throws RedisUnavailableError
   */
  async withdraw (key: string): Promise<void> {
    if (await whileAvailable(this.commands.hdel(importFaultsKey, key)) === 1) await this.announce()
  }
}

function encode ({ what, reason, python }: SharedImportFault): string {
  const own = python === undefined ? {} : { python: firstChars(python, reasonChars) }
  return JSON.stringify({ what, reason: firstChars(reason, reasonChars), ...own })
}
