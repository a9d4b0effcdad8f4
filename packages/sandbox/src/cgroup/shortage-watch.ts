import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { orElse } from '@toolyard/contract/terms'
import { isFirstToEnd } from '../process/table/memory-order.ts'
import { signalProcess } from '../process/table/process-table.ts'
import type { OwnedCall, Shortage } from '../process/table/groups.ts'
import type { Hierarchy } from './hierarchy.ts'

/** Milliseconds from one look at what all tools have to the next. */
const lookMs = 100
/** It is short when tools hold so much of what they may have together. */
const short = 0.9
/** What holds less is not ended, since that would free nothing, unless all of its owner hold much together. */
const least = 1 / 64
const much = 1 / 4

/** What was ended; `processes` are those of the call, and `all` is what all tools held. */
export interface EndedForShortage extends Shortage {
  processes: number
  all: number
}

/** What all tools may have together. */
export interface SharedBound {
  of: Shortage['of']
  most: number
  /** The group of all tools, where it is counted. */
  directory: string
  /** What a group has; a quick look, which may say too much. */
  used: (group: string) => number
  held: (group: string) => number
}

interface WatchOptions {
  /** The names of the groups of what may be ended. */
  candidates: () => readonly string[]
  /** The call that a process is the first one of. */
  callOf: (pid: number) => OwnedCall | undefined
  onEnded: (ended: EndedForShortage) => void
}

interface Holder {
  owner: string
  call: OwnedCall | undefined
  pids: readonly number[]
  held: number
}

/** The greatest of its owner, who holds `ofOwner` in all. */
interface Greatest extends Holder {
  ofOwner: number
}

/** Memory in bytes. */
export function memoryOf (directory: string, most: number, version: Hierarchy['version']): SharedBound {
  return { of: 'memory', most, directory, used: group => usedBytes(group, version), held: group => heldBytes(group, version) }
}

/** Processes and threads. */
export function processesOf (directory: string, most: number): SharedBound {
  const count = (group: string): number => numberIn(join(group, 'pids.current'))
  return { of: 'processes', most, directory, used: count, held: count }
}

/**
 * Ends a call when what all tools may have is about to be used up: the greatest one of the owner whose calls hold the most. What has
 * no owner, such as a server that calls share, counts by itself. Where memory is full, the kernel ends one process after the other,
 * and every tool that needs some waits meanwhile: 14 s where calls have a hundred processes each. Where there are no more
 * processes, no call can begin.
 */
export function watchShortages (bounds: readonly SharedBound[], { candidates, callOf, onEnded }: WatchOptions): { close (): void } {
  const looks = bounds.filter(({ most }) => most !== Infinity).map(bound => {
    let last: number | undefined
    return () => {
      const { of, most, directory, used, held } = bound
      if (used(directory) < most * short) return
      const all = held(directory)
      if (all < most * short) return
      const greatest = greatestOf(candidates().map(name => holderIn(join(directory, name), held, callOf)))
      if (greatest === undefined || (greatest.held < most * least && greatest.ofOwner < most * much)) return
      for (const pid of greatest.pids) signalProcess(pid, 'SIGKILL')
      // Large processes take some looks to go.
      if (greatest.pids[0] !== last) {
        greatest.call?.ended({ of, held: greatest.held })
        onEnded({ of, held: greatest.held, processes: greatest.pids.length, all })
      }
      last = greatest.pids[0]
    }
  })
  const timer = setInterval(() => { for (const look of looks) look() }, lookMs).unref()
  return { close () { clearInterval(timer) } }
}

function holderIn (group: string, held: SharedBound['held'], callOf: WatchOptions['callOf']): Holder {
  const pids = processesIn(group)
  const call = pids.map(callOf).find(found => found !== undefined)
  return { owner: call?.owner ?? group, call, pids, held: held(group) }
}

function greatestOf (holders: readonly Holder[]): Greatest | undefined {
  const ofOwner = new Map<string, number>()
  for (const { owner, held } of holders) ofOwner.set(owner, (ofOwner.get(owner) ?? 0) + held)
  const most = Math.max(...ofOwner.values())
  const ofGreatest = holders.filter(({ owner }) => ofOwner.get(owner) === most).sort((one, other) => other.held - one.held)
  for (const holder of ofGreatest) {
    // Whoever starts tools may still be in the group of the last one.
    const pids = holder.pids.filter(isFirstToEnd)
    if (pids.length > 0) return { ...holder, pids, ofOwner: most }
  }
  return undefined
}

function usedBytes (group: string, version: Hierarchy['version']): number {
  return numberIn(join(group, version === 2 ? 'memory.current' : 'memory.usage_in_bytes'))
}

function numberIn (file: string): number {
  return Number(orElse(() => readFileSync(file, 'latin1'), '0'))
}

/**
 * Without what the kernel drops when memory is needed: parts and names of files that it has at hand. They stay in a group when
 * its call is over, and the next one there would be ended for them. Version 1 tells of names only with the kernel's other memory.
 */
function heldBytes (group: string, version: Hierarchy['version']): number {
  const stat = orElse(() => readFileSync(join(group, 'memory.stat'), 'latin1'), '')
  const files = stat.split('\n').map(line => line.split(' ')).filter(([name = '']) => droppable[version].includes(name))
  const ofKernel = version === 1 ? numberIn(join(group, 'memory.kmem.usage_in_bytes')) : 0
  return usedBytes(group, version) - ofKernel - files.reduce((sum, [, bytes]) => sum + Number(bytes), 0)
}

const droppable = {
  1: ['total_inactive_file', 'total_active_file'],
  2: ['inactive_file', 'active_file', 'slab_reclaimable']
}

function processesIn (group: string): number[] {
  return orElse(() => readFileSync(join(group, 'cgroup.procs'), 'latin1'), '').split('\n').filter(line => line !== '').map(Number)
}
