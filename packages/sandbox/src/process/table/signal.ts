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
