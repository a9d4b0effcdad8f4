import { readFileSync } from 'node:fs'
import { orElse } from '@toolyard/contract/terms'

/** For one call; the kernel enforces each for a process by itself, but for `processes` and `tempBytes`. */
export interface ProcessLimits {
  /** Seconds of processor time, all threads of a process together. */
  cpuSec: number
  /** Bytes of private writable memory. What is merely reserved doesn't count, unless as writable: Node.js 24 does so with 512 MiB. */
  memoryBytes: number
  fileBytes: number
  /** Processes and threads of the call together; those of root are counted by control groups alone. */
  processes: number
  /**
   * Of one process. A call's processes together may make `processes * (openFiles / 2) ** 2`
   * epoll watches, which the kernel counts for the worker's user.
   */
  openFiles: number
  /** Size of each of the box's temporary file systems, in bytes. */
  tempBytes: number
}

/** For a tool that sets nothing. */
export const defaultLimits: ProcessLimits = {
  cpuSec: 600,
  memoryBytes: 2 ** 32,
  fileBytes: 2 ** 30,
  processes: 256,
  openFiles: 256,
  tempBytes: 2 ** 28
}

/** Signals that wait, and bytes of message queues: the kernel counts both for the worker's user, and hardly a tool has any. */
const userLimits = { sigpending: 1_024, msgqueue: 65_536 }

/** Names of limits in proc_pid_limits(5), by those of prlimit(1). */
const kernelNames = {
  cpu: 'cpu time', data: 'data size', fsize: 'file size', nofile: 'open files', nproc: 'processes', sigpending: 'pending signals', msgqueue: 'msgqueue size'
}

/** What a process may have at most, by the names of prlimit(1); absent for what nothing limits. */
export type HardLimits = Readonly<Record<string, number>>

/** The limits of this process, which nothing that it starts can raise. */
export function readHardLimits (): HardLimits {
  const text = orElse(() => readFileSync('/proc/self/limits', 'latin1'), '')
  const found = Object.entries(kernelNames).map(([name, kernels]) => [name, new RegExp(`^Max ${kernels} +\\S+ +(\\d+) `, 'm').exec(text)?.[1]] as const)
  return Object.fromEntries(found.flatMap(([name, most]) => most === undefined ? [] : [[name, Number(most)]]))
}

/** The command line of prlimit(1) that runs what follows it under the limits, and lets it dump no core. */
export function prlimitCommand (prlimit: string, limits: ProcessLimits, hard: HardLimits): string[] {
  const { memoryBytes: data, fileBytes: fsize, openFiles: nofile, processes: nproc } = limits
  const cpu = Math.ceil(limits.cpuSec)
  const atMost = (name: string, limit: number): number => Math.min(limit, hard[name] ?? Infinity)
  return [
    prlimit,
    '--core=0',
    `--cpu=${atMost('cpu', cpu)}:${atMost('cpu', cpu + 1)}`,
    ...Object.entries({ data, fsize, nofile, nproc, ...userLimits }).map(([name, limit]) => `--${name}=${atMost(name, limit)}`),
    '--'
  ]
}

/** The command line of prlimit(1) for the limits that a tool sets itself; it runs in the open. */
export function openLimits (prlimit: string, limits: Partial<ProcessLimits>): string[] {
  const { cpuSec, memoryBytes, fileBytes, openFiles, processes } = limits
  const hard = readHardLimits()
  const option = (name: string, value: number | undefined): string[] => value === undefined ? [] : [`--${name}=${Math.min(value, hard[name] ?? Infinity)}`]
  return [
    prlimit, '--core=0', ...option('cpu', cpuSec), ...option('data', memoryBytes), ...option('fsize', fileBytes),
    ...option('nofile', openFiles), ...option('nproc', processes), '--'
  ]
}
