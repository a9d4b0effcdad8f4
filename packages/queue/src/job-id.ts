import { v7 as uuidv7 } from 'uuid'

/** A job id: a UUID whose order is the order of creation, never anything of the caller's (X3). */
export function newJobId (): string {
  return uuidv7()
}

/** When a job was created, in milliseconds since 1970: a UUIDv7 begins with it, as 12 hexadecimal digits. */
export function createdAt (jobId: string): number {
  return Number.parseInt(jobId.slice(0, 13).replace('-', ''), 16)
}
