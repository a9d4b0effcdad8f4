/** For one call; the kernel enforces each for a process by itself, but for `processes` and `tempBytes`. */
export interface ProcessLimits {
  /** Seconds of processor time, all threads of a process together. */
  cpuSec: number
  /** Bytes of private writable memory. What is merely reserved doesn't count, unless as writable: Node.js 24 does so with 512 MiB. */
  memoryBytes: number
  fileBytes: number
  /** Processes and threads of the call together; the kernel doesn't count those of root. */
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
const userLimits = ['--sigpending=1024', '--msgqueue=65536']

/** The command line of prlimit(1) that runs what follows it under the limits, and lets it dump no core. */
export function prlimitCommand (prlimit: string, limits: ProcessLimits): string[] {
  return [
    prlimit,
    '--core=0',
    `--cpu=${Math.ceil(limits.cpuSec)}:${Math.ceil(limits.cpuSec) + 1}`,
    `--data=${limits.memoryBytes}`,
    `--fsize=${limits.fileBytes}`,
    `--nofile=${limits.openFiles}`,
    `--nproc=${limits.processes}`,
    ...userLimits,
    '--'
  ]
}

/** The command line of prlimit(1) for the limits that a tool sets itself; it runs in the open. */
export function openLimits (prlimit: string, limits: Partial<ProcessLimits>): string[] {
  const { cpuSec, memoryBytes, fileBytes, openFiles, processes } = limits
  const option = (name: string, value: number | undefined): string[] => value === undefined ? [] : [`--${name}=${value}`]
  return [
    prlimit, '--core=0', ...option('cpu', cpuSec), ...option('data', memoryBytes), ...option('fsize', fileBytes),
    ...option('nofile', openFiles), ...option('nproc', processes), '--'
  ]
}
