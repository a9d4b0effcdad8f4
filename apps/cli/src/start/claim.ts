import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isAlive, startTicks } from '@toolyard/runtime'
import { errorCode, storedJson } from '@toolyard/contract/terms'
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
  if (holder !== undefined && holder.pid !== process.pid && isHolding(holder)) throw alreadyRunning(holder.pid)
  rmSync(file, { force: true })
  try {
    writeFileSync(file, JSON.stringify({ pid: process.pid, boot: bootId(), started: startTicks(process.pid) }), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw alreadyRunning(readHolder(file)?.pid ?? 'unknown')
    throw error
  }
  return () => { rmSync(file, { force: true }) }
}

interface Holder {
  pid: number
  /** The boot in which it started, and clock ticks from then on; empty and 0 where that can't be told. */
  boot: string
  started: number
}

function readHolder (file: string): Holder | undefined {
  try {
    const { pid, boot, started } = storedJson<Partial<Holder>>(readFileSync(file, 'utf8'))
    return typeof pid === 'number' && pid > 0 && typeof boot === 'string' && typeof started === 'number' ? { pid, boot, started } : undefined
  } catch {
    return undefined
  }
}

/** A boot begins the clock ticks anew. */
function isHolding ({ pid, boot, started }: Holder): boolean {
  return boot === bootId() && isAlive(pid, started)
}

/** Linux: which boot it is; empty elsewhere. */
function bootId (): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return ''
  }
}

function alreadyRunning (pid: number | 'unknown'): StartError {
  return new StartError(`already running (pid ${pid}) in this directory. Stop it first, or start another in a directory of its own.`)
}
