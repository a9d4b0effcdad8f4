import { createHash } from 'node:crypto'
import type { Tool } from './tool.ts'

/**
 * Names what a call was checked against before it became a job: processes that have the same name for it check alike.
 * How the tool does its work is left out, and what models are told of it.
 */
export function toolVersion ({ parameters, permissions, serial }: Tool): string {
  return createHash('sha256').update(JSON.stringify([parameters, permissions ?? null, serial === true])).digest('hex').slice(0, 12)
}
