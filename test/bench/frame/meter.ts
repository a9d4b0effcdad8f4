import { readdirSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** Ticks of the counters in a second, which Linux shows in hundredths to all programs. */
const ticksPerSec = 100
/** The share of all processors that other programs may take while a row is judged. */
const quietShare = 0.05

/** In less time, the steps of the counters say nothing. */
const leastSec = 0.5

/** Measures what other programs do meanwhile. */
export interface Meter {
  /** Processors that they took on average since the meter began; undefined where the system doesn't tell, or it is too soon to say. */
  others: () => number | undefined
}

/**
 * Begins to measure: what all processors did, less what this process and all that descends from it did. A child that
 * has ended counts in its parent.
 */
export function startMeter (): Meter {
  const before = read()
  const startedAt = performance.now()
  return {
    others () {
      const after = read()
      const seconds = (performance.now() - startedAt) / 1_000
      if (before === undefined || after === undefined || seconds < leastSec) return undefined
      return Math.max(0, (after.all - before.all - (after.own - before.own)) / ticksPerSec / seconds)
    }
  }
}

/** Whether a machine on which others take so many processors is quiet enough to be judged on. */
export function isQuiet (others: number): boolean {
  return others <= quietShare * cpus().length
}

function read (): { all: number, own: number } | undefined {
  try {
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (readFileSync('/proc/stat', 'latin1').split('\n')[0] ?? '').split(/\s+/).slice(1).map(Number)
    return { all: user + nice + system + irq + softirq + steal, own: ownTicks() }
  } catch {
    return undefined
  }
}

function ownTicks (): number {
  const children = new Map<number, number[]>()
  const ticks = new Map<number, number>()
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name)).map(Number)) {
    const fields = statFields(pid)
    if (fields === undefined) continue
    const parent = Number(fields[1])
    children.set(parent, [...children.get(parent) ?? [], pid])
    ticks.set(pid, fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0))
  }
  const family = [process.pid]
  for (const pid of family) family.push(...children.get(pid) ?? [])
  return family.reduce((sum, pid) => sum + (ticks.get(pid) ?? 0), 0)
}

/** What follows the name, which may hold anything; undefined for a process that is gone. */
function statFields (pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}
