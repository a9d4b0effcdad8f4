import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { orElse } from '@toolyard/contract/terms'
import { isFirstToEnd } from '../process/table/memory-order.ts'
import { signalProcess } from '../process/table/process-table.ts'
import type { OwnedCall } from '../process/table/groups.ts'
import type { Hierarchy } from './hierarchy.ts'

/** How often the memory of all tools is looked at, in milliseconds. */
const lookMs = 100
/** Memory is short when tools hold so much of what they may have together. */
const short = 0.9
/** What holds less is not ended: that would free nothing. */
const least = 1 / 64

/** What was ended, and what it held, in bytes; `all` is what all tools held. */
export interface EndedForMemory {
  processes: number
  bytes: number
  all: number
}

export interface MemoryWatch {
  close (): void
}

interface WatchOptions {
  version: Hierarchy['version']
  /** What all tools may have together. */
  bytes: number
  /** The groups of what may be ended. */
  candidates: () => readonly string[]
  /** The call that a process is the first one of. */
  callOf: (pid: number) => OwnedCall | undefined
  onEnded: (ended: EndedForMemory) => void
}

interface Holder {
  owner: string
  call: OwnedCall | undefined
  pids: readonly number[]
  bytes: number
}

/**
 * Ends a call when the memory of all tools is about to be full: the greatest one of the owner whose calls hold the most. What has
 * no owner, such as a server that calls share, counts by itself. The kernel ends one process after the other, and every tool
 * that needs memory waits meanwhile: 14 s where calls have a hundred processes each.
 *
 * @param directory the group of all tools, where the memory is counted
 */
export function watchMemory (directory: string, { version, bytes, candidates, callOf, onEnded }: WatchOptions): MemoryWatch {
  let last: number | undefined
  const look = (): void => {
    if (usedBytes(directory, version) < bytes * short) return
    const all = heldBytes(directory, version)
    if (all < bytes * short) return
    const greatest = greatestOf(candidates().map(holderIn))
    if (greatest === undefined || greatest.bytes < bytes * least) return
    for (const pid of greatest.pids) signalProcess(pid, 'SIGKILL')
    // Large processes take some looks to go.
    if (greatest.pids[0] !== last) {
      greatest.call?.ended(greatest.bytes)
      onEnded({ processes: greatest.pids.length, bytes: greatest.bytes, all })
    }
    last = greatest.pids[0]
  }
  const holderIn = (group: string): Holder => {
    // Whoever starts tools may still be in the group of the last one.
    const pids = processesIn(group).filter(isFirstToEnd)
    const call = pids.map(callOf).find(found => found !== undefined)
    return { owner: call?.owner ?? group, call, pids, bytes: heldBytes(group, version) }
  }
  if (bytes === Infinity) return { close () {} }
  const timer = setInterval(look, lookMs).unref()
  return { close () { clearInterval(timer) } }
}

function greatestOf (holders: readonly Holder[]): Holder | undefined {
  const ofOwner = new Map<string, number>()
  for (const { owner, bytes } of holders) ofOwner.set(owner, (ofOwner.get(owner) ?? 0) + bytes)
  const most = Math.max(...ofOwner.values())
  const ofGreatest = holders.filter(({ owner, pids }) => ofOwner.get(owner) === most && pids.length > 0)
  return ofGreatest.sort((one, other) => other.bytes - one.bytes)[0]
}

function usedBytes (group: string, version: Hierarchy['version']): number {
  return bytesIn(join(group, version === 2 ? 'memory.current' : 'memory.usage_in_bytes'))
}

function bytesIn (file: string): number {
  return Number(orElse(() => readFileSync(file, 'latin1'), '0'))
}

/**
 * Without what the kernel drops when memory is needed: parts and names of files that it has at hand. They stay in a group when
 * its call is over, and the next one there would be ended for them. Version 1 tells of names only with the kernel's other memory.
 */
function heldBytes (group: string, version: Hierarchy['version']): number {
  const stat = orElse(() => readFileSync(join(group, 'memory.stat'), 'latin1'), '')
  const files = stat.split('\n').map(line => line.split(' ')).filter(([name = '']) => droppable[version].includes(name))
  const ofKernel = version === 1 ? bytesIn(join(group, 'memory.kmem.usage_in_bytes')) : 0
  return usedBytes(group, version) - ofKernel - files.reduce((sum, [, bytes]) => sum + Number(bytes), 0)
}

const droppable = {
  1: ['total_inactive_file', 'total_active_file'],
  2: ['inactive_file', 'active_file', 'slab_reclaimable']
}

function processesIn (group: string): number[] {
  return orElse(() => readFileSync(join(group, 'cgroup.procs'), 'latin1'), '').split('\n').filter(line => line !== '').map(Number)
}
