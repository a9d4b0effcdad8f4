import { readFileSync, writeFileSync } from 'node:fs'

/** A process grows by so much at most while something is done, in MB. Linux alone tells it. */
export async function growthMb (pid: number, act: () => Promise<void>): Promise<number> {
  // The kernel begins to note the highest use anew.
  writeFileSync(`/proc/${pid}/clear_refs`, '5')
  const before = residentMb(pid, 'VmRSS')
  await act()
  return residentMb(pid, 'VmHWM') - before
}

function residentMb (pid: number, field: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
}
