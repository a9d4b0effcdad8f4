import { writeFile } from 'node:fs/promises'
import { errorCode } from '@toolyard/contract/terms'

/** Bounds processes together, with all that they start. The process layer knows no more of control groups than this. */
export interface ProcessGroups {
  /** The groups of one start helper. Each call gives another one. */
  ofHelper (): HelperGroups
  /** A group in which all have one share of the processor, and together the processes and threads of a call, or of a host of calls. */
  share: (kind: 'inner' | 'host') => CallGroup
  /** The group of one call; undefined for limits that need none. */
  groupOf (limits: { memoryBytes?: number, processes?: number }, kind: CallKind): CallGroup | undefined
  /** Says whose call a process is the first one of, until what is returned is called: owners share what all tools have together. */
  own (pid: number, call: OwnedCall): () => void
  /** Gives what says whether a process works for nobody: it leaves the processor to calls then. Its group outlives it. */
  resting (pid: number): (isResting: boolean) => void
  close (): Promise<void>
}

/** What was nearly used up, and how much of it was held: bytes of memory, or processes and threads. */
export interface Shortage {
  of: 'memory' | 'processes'
  held: number
}

/** A call that is ended when its owner's hold the most, and memory or processes are short. */
export interface OwnedCall {
  owner: string
  ended: (shortage: Shortage) => void
}

export interface HelperGroups {
  /** Files that take the ids of processes. */
  members: readonly string[]
  /** The beginnings of the paths of groups to make, in each hierarchy: a call in one of these has one share of the processor. */
  shares: readonly string[]
  /** Processes and threads that a call in such a group may have; the last of the hierarchies counts them. */
  processes: number
}

/**
 * Moves processes into groups, with all that they start from then on. The kernel takes up to 10 ms for each; those that
 * ended meanwhile are left out.
 */
export async function enterGroups (members: readonly string[], pids: readonly number[]): Promise<void> {
  for (const pid of pids) {
    for (const file of members) {
      try {
        await writeFile(file, String(pid))
      } catch (error) {
        if (errorCode(error) !== 'ESRCH') throw error
      }
    }
  }
}

/** How a call's processes are shut in, which takes some more: in a box of their own, or in the inner box of a Python call. */
type CallKind = 'box' | 'inner'

export interface CallGroup {
  members: readonly string[]
  /** Written once the call's first process is in there: whoever starts it counts as well until then. */
  limits: ReadonlyArray<readonly [file: string, value: string]>
  /** To be called when its processes are gone; ends those that aren't, where the kernel can. Never rejects. */
  remove (): Promise<void>
}
