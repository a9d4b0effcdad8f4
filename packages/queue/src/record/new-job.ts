import type { JobData } from '@toolyard/contract'
import { isRecord } from '@toolyard/contract/terms'
import { readStored } from '@toolyard/store'

export interface NewJob {
  /** From `JobQueues.newId`. */
  id: string
  /** The job type, such as `data.file_read`. */
  type: string
  data: JobData
  /** 0..10, higher first; 5 when absent. */
  priority?: number
  /** How often the job may run before a failure that may pass is its end; 1 when absent. */
  maxAttempts?: number
  /** Milliseconds until the job is due; 0 when absent. */
  delayMs?: number
  /** The job that this one is a step of, and the field of its record that gets the id. */
  parent?: { queue: string, id: string, field: string }
  /** How the arguments of a held job begin. */
  preview?: string
}

/** A job with its defaults filled in. */
export type CompleteJob = Required<Omit<NewJob, 'parent' | 'preview'>> & Pick<NewJob, 'parent' | 'preview'>

/** Kept with BullMQ's options of a job: they are short, while its data may be large. */
export interface OwnOptions {
  tenant?: string
  session?: string
  /** It needs an approval. */
  hold?: 1
  /** Its tool has asked something. */
  asked?: 1
}

/** The options of a job's record, as far as they are read here; `attempts` and `delay` are BullMQ's. */
interface StoredOptions extends OwnOptions {
  attempts?: number
  delay?: number
}

export function readOptions (text: string | null | undefined): StoredOptions {
  return text === null || text === undefined ? {} : readStored('the options of a job', text, isOptions)
}

function isOptions (value: unknown): value is StoredOptions {
  if (!isRecord(value)) return false
  const { tenant = '', session = '', attempts = 0, delay = 0 } = value
  return typeof tenant === 'string' && typeof session === 'string' && typeof attempts === 'number' && typeof delay === 'number'
}
