import { orElse } from '@toolyard/contract/terms'
import { readdirSync, readFileSync } from 'node:fs'

/** Processes on this machine, zombies left out, whose command line is that. */
export function running (...argv: string[]): string[] {
  return readdirSync('/proc').filter(pid => orElse(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `${argv.join('\0')}\0`, false))
}

/** The argument of a sleep that no other test uses. */
export const nap = (): string => `600.${process.hrtime.bigint()}`

/** Processes that wait in the boxes that this process has started. */
export function waitingPrograms (): number[] {
  return descendantsOf(process.pid).filter(pid => {
    return orElse(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('/usr/bin/perl\0-e\0open my $in'), false)
  })
}

export function descendantsOf (pid: number): number[] {
  try {
    const own = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(text => text !== '').map(Number)
    return own.flatMap(child => [child, ...descendantsOf(child)])
  } catch {
    return []
  }
}

export function ancestor (pid: number, steps: number): number {
  if (steps === 0) return pid
  return ancestor(Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]), steps - 1)
}
