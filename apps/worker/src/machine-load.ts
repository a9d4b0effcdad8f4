import { availableParallelism, loadavg } from 'node:os'

let memoryBytes = 0

/** How busy the machine is, and the memory of this process. */
export function machineLoad (): { average: number, processors: number, memoryBytes: number } {
  try {
    memoryBytes = process.memoryUsage.rss()
  } catch {
    // It is read from a file: a worker that is out of descriptors tells what it had last.
  }
  return { average: loadavg()[0] ?? 0, processors: availableParallelism(), memoryBytes }
}
