import { readdirSync, readFileSync } from 'node:fs'
import { processIds, readProcess } from './process-table.ts'

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
    return processIds().filter(id => readProcess(id)?.parent === pid)
  }
}

/** Those that one of its threads has started. @throws Error where the kernel has no such list. */
export function childrenOfThread (pid: number, thread: string, proc = '/proc'): number[] {
  return readFileSync(`${proc}/${pid}/task/${thread}/children`, 'latin1').split(' ').filter(part => part !== '').map(Number)
}

/** Those that any of its threads has started; none of a process that is gone. */
export function childrenOfThreads (pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap(thread => childrenOfThread(pid, thread))
  } catch {
    return []
  }
}

/** The pids of a process in all pid namespaces that it is in, from the one seen here inwards; none when it is gone. */
export function namespacePids (pid: number, proc = '/proc'): number[] {
  try {
    return /^NSpid:\s+(.+)$/m.exec(readFileSync(`${proc}/${pid}/status`, 'latin1'))?.[1]?.split(/\s+/).map(Number) ?? []
  } catch {
    return []
  }
}
