import { randomUUID } from 'node:crypto'
import { readFile, readlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { readProcess } from '../../process/process-table.ts'

/** After that time, in milliseconds, a holder that can't be asked counts as dead; a write takes a fraction of it. */
const unknownMs = 300_000

/** A text that names this process and this one moment: `<system> <pid> <start of the process> <random>`. */
export async function newHolder (): Promise<string> {
  return [await systemName(), process.pid, startOf(process.pid), randomUUID()].join(' ')
}

/** Whether a holder's process has ended; of another machine or container that is a matter of time alone. */
export async function isHolderDead (holder: string, takenAtMs: number): Promise<boolean> {
  const [system, pid, started] = holder.split(' ')
  if (system !== await systemName()) return Date.now() - takenAtMs > unknownMs
  const entry = readProcess(Number(pid))
  return entry === undefined ? !isAlive(Number(pid)) : entry.zombie || String(entry.started) !== started
}

/** Where a pid means the same process: one boot of one machine, and one pid namespace. */
async function systemName (): Promise<string> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => hostname())
  const namespace = await readlink('/proc/self/ns/pid').catch(() => '')
  return `${boot.trim()}${namespace}`.replaceAll(' ', '')
}

function startOf (pid: number): string {
  return String(readProcess(pid)?.started ?? '')
}

function isAlive (pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
