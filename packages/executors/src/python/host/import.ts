import { readWithShare } from '@toolyard/runtime'
import { closing, drainPipes, createLineSplitter } from '@toolyard/sandbox'
import type { ForkedProcess } from './forker.ts'
import { encodeFrame, firstMessage, type Message } from '../wire/frames.ts'

export type Import =
  | { kind: 'imported' }
  /** The reason is what Python said, or how the process ended; `lacksNetwork`: it comes of a network that isn't there. */
  | { kind: 'failed', reason: string, lacksNetwork?: boolean }
  /** The machine is out of processes or memory. */
  | { kind: 'refused', cause: string }
  /** The box can't hold it. */
  | { kind: 'unboxed', cause: string }
  /** The host, or the template before its time, is gone; another one may do it. */
  | { kind: 'lost' }

const maxMessageBytes = 1_048_576
/** For everything that a module does while it is imported. */
const timeoutMs = 60_000

/** A module by its dotted name, and the only file that it may be, where that is pinned. */
export interface ImportedModule {
  module: string
  file: string | undefined
}

/** Has a template import its module; hands each line that this prints to `onLine`. */
export async function runImport (process: ForkedProcess, module: ImportedModule, onLine: (line: string) => void): Promise<Import> {
  const { requests, output } = process
  const lines = createLineSplitter(onLine)
  let printedBytes = 0
  readWithShare(output, chunk => {
    printedBytes += chunk.length
    lines.add(chunk)
  })
  const printed = closing(output)
  requests.write(encodeFrame({ ...module }))
  const result = await importResult(process)
  await drainPipes(printed, () => printedBytes)
  output.destroy()
  lines.end()
  return result
}

/** The template's answer; else how it ended; else that it took too long. */
async function importResult (process: ForkedProcess): Promise<Import> {
  const answered = firstMessage(process.replies, maxMessageBytes).then(importOf)
  const closed = closing(process.replies)
  const dead = process.ended.then(async (ending): Promise<Import> => {
    // Its last words may still be on their way.
    await drainPipes(closed, () => 0)
    if (ending.kind === 'lost' || ending.kind === 'unboxed') return ending
    return { kind: 'failed', reason: ending.kind === 'exit' ? `exit status ${ending.code}` : `signal: ${ending.signal}` }
  })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Import>(resolve => {
    timer = setTimeout(resolve, timeoutMs, { kind: 'failed', reason: `it takes longer than ${timeoutMs / 1_000} s` }).unref()
  })
  try {
    return await Promise.race([answered, dead, late])
  } finally {
    clearTimeout(timer)
  }
}

function importOf (message: Message): Import {
  if (message['ready'] === true) return { kind: 'imported' }
  return { kind: 'failed', reason: String(message['failed']), lacksNetwork: message['network'] === true }
}
