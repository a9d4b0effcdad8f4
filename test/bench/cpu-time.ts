import { readFileSync } from 'node:fs'

/** Milliseconds per tick of the counters, which Linux shows in hundredths of a second to all programs. */
const tickMs = 10

/**
 * Processor time in milliseconds that processes use while something runs. On a busy machine it says more than time:
 * other programs make everything later, but not much more work.
 */
export async function cpuMs<T> (pids: readonly number[], run: () => Promise<T>): Promise<{ result: T, ms: number }> {
  const before = total(pids)
  const result = await run()
  return { result, ms: total(pids) - before }
}

function total (pids: readonly number[]): number {
  return pids.map(used).reduce((sum, ms) => sum + ms, 0)
}

/** User and system time: the 14th and 15th field, counted after the name, which may hold anything. */
function used (pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * tickMs
}
