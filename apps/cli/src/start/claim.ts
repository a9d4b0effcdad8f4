import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { StartError } from '../supervision/start-error.ts'

/**
 * Makes this process the only `start` of a directory, by a file that names it. A file whose process is gone counts for
 * nothing, also when another process has its number now.
 *
 * @returns gives the claim back.
 * @throws StartError `already running (pid N)`.
 */
export function claim (file: string): () => void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const holder = readHolder(file)
  if (holder !== undefined && holder.pid !== process.pid && isAlive(holder)) throw alreadyRunning(holder.pid)
  rmSync(file, { force: true })
  try {
    writeFileSync(file, JSON.stringify({ pid: process.pid, started: startOf(process.pid) }), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw alreadyRunning(readHolder(file)?.pid ?? 'unknown')
    throw error
  }
  return () => { rmSync(file, { force: true }) }
}

interface Holder {
  pid: number
  /** When the process started, in the kernel's words; empty where that can't be told. */
  started: string
}

function readHolder (file: string): Holder | undefined {
  try {
    const { pid, started } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Holder>
    return typeof pid === 'number' && pid > 0 && typeof started === 'string' ? { pid, started } : undefined
  } catch {
    return undefined
  }
}

function isAlive ({ pid, started }: Holder): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  return startOf(pid) === started
}

/** Linux: the boot and the clock ticks since then (field 22 of `stat`, counted behind the name, which may hold anything). */
function startOf (pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${fields[19] ?? ''}`
  } catch {
    return ''
  }
}

function alreadyRunning (pid: number | 'unknown'): StartError {
  return new StartError(`already running (pid ${pid}) in this directory. Stop it first, or start another in a directory of its own.`)
}
