import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { orElse } from '@toolyard/contract/terms'
import { isFirstToEnd } from '../process/table/memory-order.ts'
import { signalProcess } from '../process/table/process-table.ts'
import type { OwnedCall, Shortage } from '../process/table/groups.ts'
import type { Hierarchy } from './hierarchy.ts'
import { KernelMemory, numberIn, statIn } from './kernel-memory.ts'

/** Milliseconds from one look at what all tools have to the next. */
const lookMs = 100
/** It is short when tools hold so much of what they may have together. */
const short = 0.9
/** From then on it is found out what of the kernel's memory is held, where that isn't told: this takes some looks. */
const nearlyShort = 0.75
const partsOfFiles = {
  1: ['total_inactive_file', 'total_active_file'],
  2: ['inactive_file', 'active_file']
}
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
  /** Without what the kernel drops, or may drop. */
  held: (group: string) => number
  /** Where it isn't told what of the kernel's memory can be dropped. */
  ofKernel?: KernelMemory
}

interface WatchOptions {
  /** The names of the groups of what may be ended. */
  candidates: () => readonly string[]
  /** All groups below that of all tools. */
  groups: () => readonly string[]
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

/** Memory in bytes. What the kernel drops when it is needed stays in a group when its call is over; the next one there doesn't hold it. */
export function memoryOf (directory: string, most: number, version: Hierarchy['version']): SharedBound {
  const ofKernel = new KernelMemory(version)
  const used = (group: string): number => numberIn(join(group, version === 2 ? 'memory.current' : 'memory.usage_in_bytes'))
  return { of: 'memory', most, directory, used, held: group => used(group) - ofKernel.of(group) - statIn(group, partsOfFiles[version]), ofKernel }
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
export function watchShortages (bounds: readonly SharedBound[], { candidates, groups, callOf, onEnded }: WatchOptions): { close (): void } {
  const looks = bounds.filter(({ most }) => most !== Infinity).map(bound => {
    const { of, most, directory, used, held, ofKernel } = bound
    let last: number | undefined
    const heldIn = (group: string): number => held(group) + (ofKernel?.heldIn(group) ?? 0)
    function look (): void {
      if (used(directory) < most * (ofKernel === undefined ? short : nearlyShort)) {
        ofKernel?.forget()
        return
      }
      const beside = held(directory)
      const all = beside + (ofKernel?.held() ?? 0)
      if (ofKernel !== undefined && beside + ofKernel.of(directory) >= most * nearlyShort) ofKernel.drop(groups(), most * least, look)
      else ofKernel?.forget()
      if (all < most * short) return
      const greatest = greatestOf(candidates().map(name => holderIn(join(directory, name), heldIn, callOf)))
      if (greatest === undefined || (greatest.held < most * least && greatest.ofOwner < most * much)) return
      for (const pid of greatest.pids) signalProcess(pid, 'SIGKILL')
      // Large processes take some looks to go.
      if (greatest.pids[0] !== last) {
        greatest.call?.ended({ of, held: greatest.held })
        onEnded({ of, held: greatest.held, processes: greatest.pids.length, all })
      }
      last = greatest.pids[0]
    }
    return look
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

function processesIn (group: string): number[] {
  return orElse(() => readFileSync(join(group, 'cgroup.procs'), 'latin1'), '').split('\n').filter(line => line !== '').map(Number)
}
