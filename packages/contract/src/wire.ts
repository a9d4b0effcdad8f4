import type { CallError } from './errors.ts'

/** What a BullMQ job carries. Small, and no secret in it. */
export interface JobData {
  /** The tool's name in the registry. */
  tool: string
  arguments: Record<string, unknown>
  timeoutSec: number
  tags: string[]
  /** Name (never the value) of the API key that submitted the job. */
  keyName: string
  /** One call of the tool at a time, over the whole pool (P22). */
  serial?: true
  /** The API process that waits for the outcome, if one does. */
  replyTo?: string
}

/** The output of a call that succeeded, as it travels: inline when small, else a pointer to where it is stored once. */
export type OutputRecord =
  | { kind: 'inline', value: unknown, cut?: OutputCut }
  | { kind: 'stored', bytes: number, cut?: OutputCut }

/** Present when the tool wrote more than `MAX_OUTPUT_BYTES`: what it wrote, and what was kept, in bytes. */
export interface OutputCut {
  bytes: number
  storedBytes: number
}

/** The end of a job, in one shape for success and failure. */
export type Settlement =
  | { ok: true, output: OutputRecord }
  | { ok: false, error: CallError }
