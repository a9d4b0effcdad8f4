import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** One line of the kernel's process table. `started` is in clock ticks since boot: with the pid it names one process. */
export interface ProcessEntry {
  pid: number
  parent: number
  group: number
  session: number
  started: number
  /** Dead, but not yet reaped by its parent. */
  zombie: boolean
}

/** More than fifty numbers and a name can fill. */
const statBytes = 2_048
/** Processes that are looked at in one turn of the event loop. */
const processesAtOnce = 128

/** Every process that is visible while it is read, some in each turn of the event loop: there may be thousands. */
export async function * readProcesses (): AsyncGenerator<ProcessEntry> {
  const buffer = Buffer.allocUnsafe(statBytes)
  for await (const pid of inTurns(processIds())) {
    const entry = readProcess(pid, buffer)
    if (entry !== undefined) yield entry
  }
}

/** The same by pid; empty where there is no /proc. */
export async function readProcessTable (): Promise<Map<number, ProcessEntry>> {
  const table = new Map<number, ProcessEntry>()
  for await (const entry of readProcesses()) table.set(entry.pid, entry)
  return table
}

/** Hands out processes for work that takes some microseconds each, as many in each turn of the event loop as it bears. */
export async function * inTurns<Process> (processes: readonly Process[]): AsyncGenerator<Process> {
  for (const [at, process] of processes.entries()) {
    if (at % processesAtOnce === processesAtOnce - 1) await nextTurn()
    yield process
  }
}

/** Undefined for a process that is gone, or that can't be seen. */
export function readProcess (pid: number, buffer = Buffer.allocUnsafe(statBytes), proc = '/proc'): ProcessEntry | undefined {
  try {
    return entryOf(pid, statFields(readStat(`${proc}/${pid}/stat`, buffer)))
  } catch {
    return undefined
  }
}

/** What the kernel's table says of a process behind its name: see proc_pid_stat(5). @throws Error for one that is gone. */
export function readStatFields (pid: number): string[] {
  return statFields(readStat(`/proc/${pid}/stat`, Buffer.allocUnsafe(statBytes)))
}

/** The pids of all processes that are visible now; none where there is no /proc. */
export function processIds (): number[] {
  try {
    return readdirSync('/proc').filter(name => name >= '0' && name < ':').map(Number)
  } catch {
    return []
  }
}

/** Twice as fast as `readFileSync`, which first asks for the size and the type: a table has hundreds of these. */
function readStat (file: string, buffer: Buffer): string {
  const fd = openSync(file, 'r')
  try {
    return buffer.toString('latin1', 0, readSync(fd, buffer))
  } finally {
    closeSync(fd)
  }
}

/** The second field is the program's name in parentheses and may itself hold any character. */
function statFields (stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function entryOf (pid: number, fields: readonly string[]): ProcessEntry {
  return {
    pid,
    zombie: fields[0] === 'Z' || fields[0] === 'X',
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    started: Number(fields[19])
  }
}
