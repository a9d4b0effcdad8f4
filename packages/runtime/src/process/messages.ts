import { asError, errorCode } from '@toolyard/contract/terms'
import { inspect } from 'node:util'
import { SettingsError } from '../settings/settings.ts'
import { printable } from '../log/printable.ts'

/** To the process that started it, over the IPC channel. */
export interface ReadyMessage {
  ready: true
  /** Where the API listens, such as `http://127.0.0.1:3001`. */
  address?: string
  tools?: ServedTools
  /** How well a worker shuts its tools in. */
  sandbox?: { level: string, missing: readonly string[] }
}

/** While a process isn't ready yet. */
export interface WaitingMessage {
  /** The reason, and the remedy. */
  waiting: string
}

export interface ServedTools {
  /** Tools that are published, also those that are built in. */
  count: number
  manifests: number
  /** A tool of a manifest that can be called without arguments, if there is one. */
  callable?: string
  /** Manifests of which all or something isn't served; the log has told why. */
  faulty: number
}

/** Tells the parent that this process serves, or what it waits for; does nothing when nobody listens. */
export function tellParent (message: ReadyMessage | WaitingMessage): void {
  process.send?.(message)
}

export interface ParentQuestion {
  ask: string
  id: number
}

/** The answer to a question, under its `id`; without a `value` the process had none. */
export interface ParentAnswer {
  answer: number
  value?: unknown
}

/** Answers one of the parent's questions, as often as it comes; does nothing without a parent. */
export function answerParent (question: string, answer: () => Promise<unknown>): void {
  process.on('message', (message: Partial<ParentQuestion>) => {
    const { ask, id } = message
    if (ask !== question || id === undefined) return
    const reply = (value?: unknown): void => { process.send?.({ answer: id, value } satisfies ParentAnswer) }
    answer().then(reply, () => { reply() })
  })
}

/** Errors whose message is made for the operator. */
const plainErrors = new Set([SettingsError.name, 'UnsafeRedisError'])

/** By the system's codes. */
const shortages: Readonly<Record<string, string>> = {
  EAGAIN: 'there are too many processes or threads',
  EDQUOT: 'the quota of the disk is used up',
  EMFILE: 'the process has no descriptors left',
  ENFILE: 'the machine has no descriptors left',
  ENOMEM: 'there is no memory left',
  ENOSPC: 'there is no room left on the disk',
  EROFS: 'the file system is read-only'
}

/** Ends a process that could not start: what the operator can set right is told in its own words, anything else with its stack. */
export function exitWithMessage (error: unknown): never {
  console.error(printable(error instanceof Error && plainErrors.has(error.name) ? error.message : shortageText(error) ?? inspect(error)))
  process.exit(1)
}

function shortageText (error: unknown): string | undefined {
  const missing = shortages[errorCode(error) ?? '']
  return missing === undefined ? undefined : `It cannot start: ${missing} (${asError(error).message}). Free some, and start it again.`
}
