import type { Socket } from 'node:net'
import { limits, type CallError } from '@toolyard/contract/terms'
import type { Outcome } from '../outcome.ts'
import { shortOutput } from '../result/large-output.ts'
import type { OutputTask } from '../result/output-task.ts'
import { parseJson } from '../result/json.ts'
import { decodePrefix, firstChars } from '../result/utf8.ts'
import { createFrameReader, decodeFrame, type Message } from './frames.ts'

/** What a call said of itself before its process ended. */
export interface Reply {
  /** Bytes that came, of whatever kind. */
  receivedBytes (): number
  /** The outcome that was told, once it is complete; undefined for a process that ended without a word. */
  outcome (readLarge: (task: OutputTask) => Promise<Outcome>): Promise<Outcome | undefined>
  /** The size of the returned value's JSON, and how much of it came. */
  size (): { totalBytes: number, keptBytes: number }
}

const minFrameBytes = 65_536
const codes = ['TOOL_FAILED', 'TOOL_UNAVAILABLE', 'OUTPUT_INVALID'] as const

/** Reads the reply of a call, whose returned value is at most `maxBytes` of JSON. The messages are in `call.py`. */
export function readReply (control: Socket, maxBytes: number): Reply {
  const frames: Buffer[] = []
  let receivedBytes = 0
  const read = createFrameReader(Math.max(maxBytes, minFrameBytes), frame => {
    // There are two at most; a tool that finds the connection may write more.
    if (frames.length < 2) frames.push(frame)
  })
  control.on('data', (chunk: Buffer) => {
    receivedBytes += chunk.length
    if (!read(chunk)) control.destroy()
  })

  return {
    receivedBytes: () => receivedBytes,
    async outcome (readLarge) {
      const [first, value] = frames
      const message = first === undefined ? {} : decodeFrame(first)
      return failureOf(message) ?? (value === undefined ? undefined : await outputOf(message, value, readLarge))
    },
    size () {
      const [first, value] = frames
      const keptBytes = value?.length ?? 0
      return { totalBytes: Math.max(keptBytes, first === undefined ? 0 : Number(decodeFrame(first)['returned']) || 0), keptBytes }
    }
  }
}

/** More than the cap is the text of its first part, with `cut`, as it is for commands. */
async function outputOf ({ returned }: Message, value: Buffer, readLarge: (task: OutputTask) => Promise<Outcome>): Promise<Outcome | undefined> {
  if (!Number.isSafeInteger(returned)) return undefined
  const totalBytes = Number(returned)
  if (totalBytes > value.length) {
    const { text, bytes } = decodePrefix(value)
    return { ok: true, output: text, cut: { bytes: totalBytes, storedBytes: bytes } }
  }
  if (value.length > shortOutput) return await readLarge({ bytes: value, kind: 'value' })
  const parsed = parseJson(value.toString('utf8'))
  if (parsed === undefined) return { ok: false, error: { code: 'OUTPUT_INVALID', message: 'the output is not JSON' } }
  return { ok: true, output: parsed.value }
}

function failureOf ({ failed }: Message): Outcome | undefined {
  if (typeof failed !== 'object' || failed === null) return undefined
  const { code, message, type } = failed as Message
  const known = codes.find(each => each === code)
  if (known === undefined || typeof message !== 'string') return undefined
  const error: CallError = { code: known, message: firstChars(message, limits.errorMessageChars) }
  return { ok: false, error: typeof type === 'string' ? { ...error, details: { type: firstChars(type, limits.errorMessageChars) } } : error }
}
