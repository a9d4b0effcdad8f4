import { readdirSync, readFileSync } from 'node:fs'

/** Processes on this machine, zombies left out, whose command line is that. */
export function running (...argv: string[]): string[] {
  return readdirSync('/proc').filter(pid => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `${argv.join('\0')}\0`
    } catch {
      return false
    }
  })
}

/** The argument of a sleep that no other test uses. */
export const nap = (): string => `600.${process.hrtime.bigint()}`
