import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { Redis } from 'ioredis'

/** Processes that work in a directory, or name it in their command line: a line each. */
export function processesIn (dir: string): string[] {
  return readdirSync('/proc').filter(name => /^\d+$/.test(name) && Number(name) !== process.pid).flatMap(pid => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return readlinkSync(`/proc/${pid}/cwd`).startsWith(dir) || command.includes(dir) ? [`${pid} ${command}`] : []
    } catch {
      return []
    }
  })
}

/** How many descriptors a process has open. */
export function descriptorsOf (pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

/** Keys that only unfinished work has: locks, and lists of jobs that wait or run. */
export async function unfinishedKeys (port: number): Promise<string[]> {
  const redis = new Redis(port, '127.0.0.1')
  try {
    const keys = await redis.keys('toolyard:*')
    return keys.filter(key => /:lock$|:(?:active|wait|paused|prioritized|delayed|waiting-children|stalled)$|:serial:|:limiter$/.test(key))
  } finally {
    redis.disconnect()
  }
}
