import { randomFillSync } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { required } from './required.ts'

/** Random bytes for many ids are drawn at once: a draw costs more than an id. */
const perId = 16
const random = new Uint8Array(256 * perId)
let drawn = random.length

let lastMs = -Infinity
let sequence = 0

/**
 * A clock that was set back by more than this, in milliseconds, is followed: else
 * all ids would be of one moment until it is there again.
 */
const setBackMs = 1_000

/**
 * A job id: a UUID whose order is the order of creation, never anything of the caller's.
 *
 * @param now in milliseconds since 1970; in the service Redis' time (`JobQueues.newId`), so that all machines make ids by one clock.
 */
export function newJobId (now = Date.now()): string {
  if (drawn === random.length) {
    randomFillSync(random)
    drawn = 0
  }
  const bytes = random.subarray(drawn, drawn += perId)
  if (now > lastMs || now < lastMs - setBackMs) {
    lastMs = now
    // The upper half of the range is left to those that follow in the same millisecond.
    sequence = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) >>> 1
  } else {
    sequence += 1
  }
  return uuidv7({ random: bytes, msecs: lastMs, seq: sequence })
}

/** The id of BullMQ's job, which has one as soon as it was added. */
export function idOf ({ id }: { id?: string | undefined }): string {
  return required(id, 'the id of a job')
}

/** When a job was created, in milliseconds since 1970: a UUIDv7 begins with it, as 12 hexadecimal digits. */
export function createdAt (jobId: string): number {
  return Number.parseInt(jobId.slice(0, 13).replace('-', ''), 16)
}

/** Less than all ids of jobs that were created at a time, in milliseconds since 1970, or later. */
export function firstIdAt (ms: number): string {
  const digits = ms.toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}

/** In lower case. */
export const jobIdPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
