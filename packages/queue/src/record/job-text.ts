import type { JobListQuery } from '@toolyard/contract'
import { findText } from '@toolyard/contract/terms'
import { decodeData } from './job-arguments.ts'
import { decodeFailure } from './settlement.ts'

export type TextFilter = Pick<JobListQuery, 'text' | 'session' | 'request'>

export function looksForText ({ text, session, request }: TextFilter): boolean {
  return text !== undefined || session !== undefined || request !== undefined
}

/** A text as JSON has it inside its quotes, in the lower case that Lua knows, which is only that of ASCII letters. */
export function soughtText (text: string): string {
  return lowered(JSON.stringify(text).slice(1, -1)).toString()
}

/** Whether a job's data and the reason of its failure have what is looked for: session, request, a text in arguments or error. */
export function hasText (data: string, reason: string | undefined, { text, session, request }: TextFilter): boolean {
  const job = decodeData(data)
  const { session: own, origin } = job
  if (session !== undefined && own !== session) return false
  if (request !== undefined && origin?.request !== request) return false
  if (text === undefined) return true
  const sought = bytesOf(lowered(JSON.stringify(text).slice(1, -1)))
  if (isIn(sought, job.argumentsText ?? JSON.stringify(job.arguments))) return true
  if (reason === undefined) return false
  const { code, message, details } = decodeFailure(reason)
  return isIn(sought, JSON.stringify([code, message, details]))
}

function isIn (sought: string, text: string): boolean {
  return findText(bytesOf(lowered(text)), sought) !== -1
}

/** A text with a character for each byte. */
function bytesOf (bytes: Buffer): string {
  return bytes.toString('latin1')
}

/** Byte by byte: to replace letters by a pattern takes a quarter of a second for a text of 1 MB in mixed case. */
function lowered (text: string): Buffer {
  const bytes = Buffer.from(text)
  for (let place = 0; place < bytes.length; place++) {
    const byte = bytes[place] ?? 0
    if (byte >= upperA && byte <= upperZ) bytes[place] = byte + caseStep
  }
  return bytes
}

const upperA = 0x41
const upperZ = 0x5a
const caseStep = 0x20
