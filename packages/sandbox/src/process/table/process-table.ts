import { closeSync, openSync, read, readdirSync, readFileSync, readSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'

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

/** Which group a process is in, and whose child it is. */
export type ProcessPlace = Pick<ProcessEntry, 'pid' | 'parent' | 'group' | 'zombie'>

/** More than fifty numbers and a name can fill. */
const statBytes = 2_048
/** Processes that are looked at in one turn of the event loop, and threads whose children are. */
const processesAtOnce = 128
const threadsAtOnce = 256

/** The place of every process that is visible while it is read, some in each turn of the event loop: there may be thousands. */
export async function * readPlaces (): AsyncGenerator<ProcessPlace> {
  for await (const pid of inTurns(processIds())) {
    const place = readPlace(pid)
    if (place !== undefined) yield place
  }
}

/** All processes by pid; empty where there is no /proc. Only for tools in the open, see `readPlace`. */
export async function readProcessTable (): Promise<Map<number, ProcessEntry>> {
  const table = new Map<number, ProcessEntry>()
  const buffer = Buffer.allocUnsafe(statBytes)
  for await (const pid of inTurns(processIds())) {
    const entry = readProcess(pid, buffer)
    if (entry !== undefined) table.set(pid, entry)
  }
  return table
}

/** Hands out processes for work that takes some microseconds each, as many in each turn of the event loop as it bears. */
export async function * inTurns<Process> (processes: readonly Process[]): AsyncGenerator<Process> {
  for (const [at, process] of processes.entries()) {
    if (at % processesAtOnce === processesAtOnce - 1) await nextTurn()
    yield process
  }
}

/**
 * Where a process is, as its `status` tells; undefined for one that is gone. Newer kernels tell `stat` only when a process is not in
 * the middle of an `exec`: who reads it waits, and a tool with much memory and little processor time can make that minutes.
 */
export function readPlace (pid: number): ProcessPlace | undefined {
  try {
    const status = readStatus(pid)
    const state = readState(status)
    return { pid, parent: Number(status('PPid')), group: Number(status('NSpgid')?.split('\t')[0]), zombie: state === 'Z' || state === 'X' }
  } catch {
    return undefined
  }
}

/** The letter of a process's state, as proc_pid_stat(5) has it. @throws Error for one that is gone. */
export function stateOf (pid: number): string {
  return readState(readStatus(pid))
}

function readState (status: (name: string) => string | undefined): string {
  return status('State')?.slice(0, 1) ?? ''
}

/** Finds fields of the `status` of a process. A program chooses its name, in which the kernel escapes no other line end than `\n`. */
function readStatus (pid: number, proc = '/proc'): (name: string) => string | undefined {
  const lines = readFileSync(`${proc}/${pid}/status`, 'latin1').split('\n')
  return name => lines.find(line => line.startsWith(`${name}:\t`))?.slice(name.length + 2)
}

/** With `stat`, so only for processes that are in no `exec`: see `readPlace`. Undefined for one that is gone, or that can't be seen. */
export function readProcess (pid: number, buffer = Buffer.allocUnsafe(statBytes)): ProcessEntry | undefined {
  try {
    return entryOf(pid, statFields(readStat(`/proc/${pid}/stat`, buffer)))
  } catch {
    return undefined
  }
}

/** The kernel's table of a process behind its name: see proc_pid_stat(5). @throws Error for one that is gone. */
export function readStatFields (pid: number, proc = '/proc'): string[] {
  return statFields(readStat(`${proc}/${pid}/stat`, Buffer.allocUnsafe(statBytes)))
}

/** The same where there may be an `exec`: a thread of Node's waits for it, so one is read at a time. To open it takes no time. */
export async function readStatLater (pid: number, proc = '/proc'): Promise<string[]> {
  const descriptor = openSync(`${proc}/${pid}/stat`, 'r')
  try {
    const { bytesRead, buffer } = await promisify(read)(descriptor, Buffer.allocUnsafe(statBytes), 0, statBytes, null)
    return statFields(buffer.toString('latin1', 0, bytesRead))
  } finally {
    closeSync(descriptor)
  }
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

/**
 * The pids of a process's children; of those that its first thread started, or that it adopted.
 *
 * @param proc the /proc to read; pids are numbered as it numbers them
 */
export function childrenOf (pid: number, proc = '/proc'): number[] {
  try {
    return childrenOfThread(pid, String(pid), proc)
  } catch {
    // A kernel without these lists, or no such process.
    return processIds().filter(id => readPlace(id)?.parent === pid)
  }
}

/** Those that one of its threads has started. @throws Error where the kernel has no such list. */
export function childrenOfThread (pid: number, thread: string, proc = '/proc'): number[] {
  return readFileSync(`${proc}/${pid}/task/${thread}/children`, 'latin1').split(' ').filter(part => part !== '').map(Number)
}

/** Those that any of its threads has started; none of a process that is gone. */
export function childrenOfThreads (pid: number): number[] {
  return threadsOf(pid, '/proc').flatMap(thread => whileThere(() => childrenOfThread(pid, thread)))
}

/**
 * A process and those that descend from it, as many as can be looked at in one turn of the event loop. Where there are more, it is
 * not `whole`: all whose parents have ended are children of the first process of a box, and a tool may start thousands.
 */
export function familyOf (root: number, proc = '/proc'): { pids: number[], whole: boolean } {
  const pids = [root]
  let left = threadsAtOnce
  for (const pid of pids) {
    const threads = threadsOf(pid, proc)
    const children = threads.slice(0, left).flatMap(thread => whileThere(() => childrenOfThread(pid, thread, proc)))
    left -= threads.length
    pids.push(...children)
    if (left < 0 || pids.length > processesAtOnce) return { pids: pids.slice(0, processesAtOnce), whole: false }
  }
  return { pids, whole: true }
}

function threadsOf (pid: number, proc: string): string[] {
  return whileThere(() => readdirSync(`${proc}/${pid}/task`))
}

/** Nothing of what is gone. */
function whileThere<Each> (read: () => Each[]): Each[] {
  try {
    return read()
  } catch {
    return []
  }
}

/** The pids of a process in all pid namespaces that it is in, from the one seen here inwards; none when it is gone. */
export function namespacePids (pid: number, proc = '/proc'): number[] {
  try {
    return readStatus(pid, proc)('NSpid')?.split('\t').map(Number) ?? []
  } catch {
    return []
  }
}

/** Sends a signal to a process group; false when the group is empty, or may not be signalled. */
export function signalGroup (group: number, signal: NodeJS.Signals | 0): boolean {
  return signalProcess(-group, signal)
}

/** Sends a signal to a process; false when it is gone, or may not be signalled. */
export function signalProcess (pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
