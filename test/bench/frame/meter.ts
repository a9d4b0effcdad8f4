import { readdirSync, readFileSync } from 'node:fs'
import { cpus } from 'node:os'

/** Ticks of the counters in a second, which Linux shows in hundredths to all programs. */
const ticksPerSec = 100
/** The share of all processors that other programs may take while a row is judged. */
const quietShare = 0.05

/** In less time, the steps of the counters say nothing. */
const leastSec = 0.5

/** Measures what other programs do meanwhile. */
interface Meter {
  /** Processors that they took on average since the meter began; undefined where the system doesn't tell, or it is too soon to say. */
  others: () => number | undefined
}

/**
 * Begins to measure: what each process did that doesn't descend from this one, with its children that have ended, and what
 * a hypervisor took. The rest of what the processors did is not told apart: it is the kernel's own work, and that of processes
 * in boxes, whose parents have ended before them, so that nobody has counted them.
 */
export function startMeter (): Meter {
  const before = read()
  const startedAt = performance.now()
  return {
    others () {
      const after = read()
      const seconds = (performance.now() - startedAt) / 1_000
      if (before === undefined || after === undefined || seconds < leastSec) return undefined
      return Math.max(0, (after - before) / ticksPerSec / seconds)
    }
  }
}

/** Whether a machine on which others take so many processors is quiet enough to be judged on. */
export function isQuiet (others: number): boolean {
  return others <= quietShare * cpus().length
}

function read (): number | undefined {
  try {
    const [, , , , , , , steal = 0] = (readFileSync('/proc/stat', 'latin1').split('\n')[0] ?? '').split(/\s+/).slice(1).map(Number)
    return steal + othersOf(readdirSync('/proc').filter(name => /^\d+$/.test(name)).flatMap(readProcess), process.pid)
  } catch {
    return undefined
  }
}

/** A process, and the ticks that it took by itself and that its children had taken when they ended. */
export interface ProcessTicks {
  pid: number
  parent: number
  own: number
  children: number
}

/** Who takes in processes without a parent, and the kernel's threads. */
const [init, kernel] = [1, 2]

/** The ticks of all processes that don't descend from `self`. */
export function othersOf (processes: readonly ProcessTicks[], self: number): number {
  const family = new Set([self])
  for (let size = 0; size < family.size;) {
    size = family.size
    for (const { pid, parent } of processes) if (family.has(parent)) family.add(pid)
  }
  return processes
    .filter(({ pid, parent }) => !family.has(pid) && pid !== kernel && parent !== kernel)
    // Processes that init has taken in were anybody's.
    .reduce((sum, { pid, own, children }) => sum + own + (pid === init ? 0 : children), 0)
}

/** Nothing for a process that is gone. */
function readProcess (pid: string): ProcessTicks[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The name comes before, and may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ').map(Number)
    const [, parent = 0] = fields
    const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15)
    return [{ pid: Number(pid), parent, own: user + system, children: childrenUser + childrenSystem }]
  } catch {
    return []
  }
}
