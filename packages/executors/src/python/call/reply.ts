import type { Socket } from 'node:net'
import { isRecord, limits, type CallError, firstChars } from '@toolyard/contract/terms'
import { failure, type Outcome } from '../../run/outcome.ts'
import { shortOutput } from '../../result/large-output.ts'
import { cutText } from '../../result/output.ts'
import type { OutputTask } from '../../result/output-task.ts'
import { parseJson } from '../../run/json.ts'
import { createFrameReader, decodeFrame, type Message } from '../wire/frames.ts'

/** A call's own words before its process ended. */
export interface Reply {
  /** Bytes that came, of any kind. */
  receivedBytes (): number
  /** The outcome that was reported, once it is complete; undefined for a process that ended without one. */
  outcome (readLarge: (task: OutputTask) => Promise<Outcome>): Promise<Outcome | undefined>
  /** Whether the reported failure comes from the missing network. */
  lacksNetwork (): boolean
  /** The size of the returned value's JSON, and how much of it came. */
  size (): { totalBytes: number, keptBytes: number }
}

const maxMessageBytes = 262_144
const codes = ['TOOL_FAILED', 'TOOL_UNAVAILABLE', 'OUTPUT_INVALID'] as const

/** Reads the reply of a call, whose returned value is at most `maxBytes` of JSON. The messages are in `call.py`. */
export function readReply (replies: Socket, maxBytes: number): Reply {
  let message: Message | undefined
  let value: Buffer | undefined
  let receivedBytes = 0
  const read = createFrameReader(Math.max(maxBytes, maxMessageBytes), frame => {
    if (message === undefined) message = frame.length > maxMessageBytes ? {} : decodeFrame(frame)
    else value ??= frame
  })
  replies.on('data', (chunk: Buffer) => {
    receivedBytes += chunk.length
    // A tool that finds the pipe may write more: that is counted, and not looked at.
    if (value === undefined && !read(chunk)) replies.destroy()
  })

  return {
    receivedBytes: () => receivedBytes,
    async outcome (readLarge) {
      return message === undefined
        ? undefined
        : failureOf(message) ?? (value === undefined ? undefined : await outputOf(message, value, readLarge))
    },
    lacksNetwork () {
      const failed = message?.['failed']
      return isRecord(failed) && failed['network'] === true
    },
    size () {
      const keptBytes = value?.length ?? 0
      return { totalBytes: Math.max(keptBytes, sizeIn(message) ?? 0), keptBytes }
    }
  }
}

/** More than the cap is the text of its first part, with `cut`, as it is for commands. */
async function outputOf (message: Message, value: Buffer, readLarge: (task: OutputTask) => Promise<Outcome>): Promise<Outcome | undefined> {
  const totalBytes = sizeIn(message)
  if (totalBytes === undefined) return undefined
  if (totalBytes > value.length) return cutText({ kept: value, totalBytes })
  if (value.length > shortOutput) return await readLarge({ bytes: value, kind: 'value' })
  const parsed = parseJson(value.toString('utf8'))
  if (parsed === undefined) return failure('OUTPUT_INVALID', 'the output is not JSON')
  return { ok: true, output: parsed.value }
}

function sizeIn (message: Message | undefined): number | undefined {
  const returned = message?.['returned']
  return Number.isSafeInteger(returned) ? Number(returned) : undefined
}

function failureOf ({ failed }: Message): Outcome | undefined {
  if (!isRecord(failed)) return undefined
  const { code, message, type } = failed
  const known = codes.find(each => each === code)
  if (known === undefined || typeof message !== 'string') return undefined
  const error: CallError = { code: known, message: firstChars(message, limits.errorMessageChars) }
  return { ok: false, error: typeof type === 'string' ? { ...error, details: { type: firstChars(type, limits.errorMessageChars) } } : error }
}
