import { setTimeout as sleep } from 'node:timers/promises'
import { inTurns, readProcessTable, type ProcessEntry } from './process-table.ts'
import { signalGroup, signalProcess } from './signal.ts'
import { findTree, type TreeRoot } from './tree.ts'

const pauseMs = 5
/** A process in an uninterruptible wait dies later than any signal; a run isn't held up for longer than this. */
const patienceMs = 5_000

/**
 * Kills every process of a call and returns when none is left (promise 3), with the pids of those that outlived the
 * patience of 5 s: an empty list but for processes that the kernel itself holds, or that belong to another user.
 *
 * Each round stops what it finds until it finds nothing new, so that nothing can be started behind its back, then
 * kills it all. Where there is no /proc only the group can be killed.
 */
export async function killTree (root: TreeRoot, known: Iterable<ProcessEntry>): Promise<number[]> {
  if (root.started === undefined) {
    signalGroup(root.pid, 'SIGKILL')
    return []
  }
  const seen = new Map([...known].map(entry => [entry.pid, entry]))
  const until = performance.now() + patienceMs
  for (;;) {
    const living = await freezeTree(root, seen)
    if (living.length === 0) return []
    if (performance.now() > until) return living.map(({ pid }) => pid)
    for await (const { pid } of inTurns(living)) signalProcess(pid, 'SIGKILL')
    await sleep(pauseMs)
  }
}

async function freezeTree (root: TreeRoot, seen: Map<number, ProcessEntry>): Promise<ProcessEntry[]> {
  const frozen = new Set<number>()
  for (;;) {
    const living = await livingTree(root, seen.values())
    const moving = living.filter(({ pid }) => !frozen.has(pid))
    if (moving.length === 0) return living
    for await (const entry of inTurns(moving)) {
      signalProcess(entry.pid, 'SIGSTOP')
      frozen.add(entry.pid)
      seen.set(entry.pid, entry)
    }
  }
}

/** The call's processes that are alive now. */
export async function livingTree (root: TreeRoot, known: Iterable<ProcessEntry>): Promise<ProcessEntry[]> {
  return [...(await findTree(await readProcessTable(), root, known)).values()].filter(({ zombie }) => !zombie)
}
