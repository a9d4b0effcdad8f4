import { cpus } from 'node:os'

/** In less time, an idle moment says nothing: a file that was just started has yet to begin. */
export const lookMs = 2_000

/** @returns what share of the time since its last answer the processors had nothing to do; 0 when that is too soon to say. */
export function startIdleMeter (): () => number {
  let before = read()
  return () => {
    const now = read()
    if (now.at - before.at < lookMs) return 0
    const share = (now.idle - before.idle) / (now.all - before.all)
    before = now
    return share
  }
}

/** What all processors have spent, in milliseconds: in all, and with nothing to do. */
function read (): { at: number, all: number, idle: number } {
  const spent = cpus().map(({ times }) => times)
  return {
    at: performance.now(),
    all: spent.reduce((sum, times) => sum + Object.values(times).reduce((all, each) => all + each), 0),
    idle: spent.reduce((sum, { idle }) => sum + idle, 0)
  }
}
