import { readFileSync } from 'node:fs'

/** Resident memory of a process, in kilobytes. */
export function residentKb (pid: number | undefined): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}
