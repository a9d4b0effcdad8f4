import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { isAlive, startTicks } from '@toolyard/runtime'
import { errorCode, storedJson, orElse } from '@toolyard/contract/terms'
import { StartError } from '../supervision/start-error.ts'

/**
 * Makes this process the only `start` of a directory. Each claim is a file with a number, `start.json.7`, that names its
 * process, and the highest number counts. Whoever finds that one's process gone makes the next number, which exists at once
 * as a whole or not at all; of several at the same moment one can. The highest number is never removed, so that nobody who
 * looked earlier can make it again.
 *
 * @returns gives the claim back.
 * @throws StartError `already running (pid N)`.
 */
export function claim (file: string): () => void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${randomUUID()}`
  writeFileSync(draft, JSON.stringify({ pid: process.pid, boot: bootId(), started: startTicks(process.pid) }), { flag: 'wx', mode: 0o600 })
  try {
    const own = takeNext(file, draft)
    // Where its directory is gone, nothing is held any more.
    return () => { if (existsSync(numbered(file, own))) writeFileSync(numbered(file, own), '') }
  } finally {
    rmSync(draft, { force: true })
  }
}

function takeNext (file: string, draft: string): number {
  for (;;) {
    const last = Math.max(0, ...numbersOf(file))
    const holder = readHolder(numbered(file, last))
    if (holder !== undefined && holder.pid !== process.pid && isHolding(holder)) throw new StartError(`already running (pid ${holder.pid}) in this directory. Stop it first, or start another in a directory of its own.`)
    const own = last + 1
    if (!isLinked(draft, numbered(file, own))) continue
    const numbers = numbersOf(file)
    // A listing may miss what changes meanwhile: then the number was an old one.
    const isLast = numbers.every(number => number <= own)
    for (const number of isLast ? numbers.filter(number => number < own) : [own]) rmSync(numbered(file, number), { force: true })
    if (isLast) return own
  }
}

function isLinked (draft: string, file: string): boolean {
  try {
    linkSync(draft, file)
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

function numbersOf (file: string): number[] {
  const start = `${basename(file)}.`
  const endings = readdirSync(dirname(file)).filter(name => name.startsWith(start)).map(name => name.slice(start.length))
  return endings.filter(ending => /^[1-9]\d{0,14}$/.test(ending)).map(Number)
}

function numbered (file: string, number: number): string {
  return `${file}.${number}`
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
  return orElse(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(), '')
}
