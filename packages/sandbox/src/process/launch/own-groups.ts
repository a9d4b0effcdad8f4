import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HelperGroups } from '../table/groups.ts'

/** The control groups of a helper: what it starts is born where it is. */
interface OwnGroups {
  /** `shares` are for what it starts. */
  join (groups: HelperGroups): void
  /** Runs `start` when the helper is in a share where nothing runs, or is about to enter the group of a call; one after the other. */
  inTurn (start: () => void, needsShare: boolean): void
  /** Something was started where it is. The function that is returned is to be called when that ended. */
  started (): () => void
  /** Moves the helper to a share where nothing runs, unless it is in one, so that the next start need not wait for it. */
  moveOn (): void
  enterCall (members: readonly string[]): void
  /** Leaves those of a call, and sets the limits once it is only the call that they bound; answers why it can't be bounded. */
  leaveCall (limits?: ReadonlyArray<readonly [file: string, value: string]>): string | undefined
  /** Leaves those of a call that could not be left before. */
  goHome (): void
}

/**
 * The processor is shared between groups, not between processes: a call that starts a hundred of them has one share. A share is
 * of one call, and bounds the number of its processes, those of root too.
 */
interface Share {
  /** In each hierarchy; the last one counts processes and threads. */
  directories: readonly string[]
  isTaken: boolean
}

/** Threads of the helper, which is in the share of what it starts next. */
const ownThreads = 16

export function createOwnGroups (): OwnGroups {
  let own: readonly string[] = []
  let prefixes: readonly string[] = []
  let processes = 0
  let count = 0
  const free: Share[] = []
  const waiting: Array<{ start: () => void, needsShare: boolean }> = []
  let here: Share | undefined
  let isMoving = false
  /** Whether it may be in the groups of a call, outside of `own` and of shares. */
  let away = false

  const needsMove = (): boolean => prefixes.length > 0 && here?.isTaken !== false

  function leave (): void {
    if (here?.isTaken === false) free.push(here)
    here = undefined
  }

  /** The kernel takes up to 20 ms for the first move after a while. */
  async function move (): Promise<void> {
    let next: Share | undefined
    try {
      // Else the next start would leave the share again.
      goHome()
      next = free.pop() ?? makeShare(prefixes, count++, ownThreads + processes)
      for (const directory of next.directories) await writeFile(join(directory, 'cgroup.procs'), String(process.pid))
      leave()
      here = next
    } catch {
      // There may be as many groups as the machine allows. One that refused is tried again: each start would make another one.
      if (next !== undefined) free.push(next)
      away ||= here !== undefined || next !== undefined
      leave()
    }
  }

  function startWaiting (): void {
    while (!isMoving && waiting[0] !== undefined) {
      if (waiting[0].needsShare && needsMove()) moveOn()
      else waiting.shift()?.start()
    }
  }

  function moveOn (): void {
    if (isMoving || !needsMove()) return
    isMoving = true
    void move().then(() => {
      isMoving = false
      // Where there are no more groups, a call begins in those of the helper.
      if (here === undefined) waiting.shift()?.start()
      startWaiting()
    })
  }

  function goHome (): void {
    if (!away) return
    leave()
    enter(own)
    away = false
  }

  return {
    join (groups) {
      enter(groups.members)
      own = groups.members
      prefixes = groups.shares
      processes = groups.processes
      moveOn()
    },
    inTurn (start, needsShare) {
      waiting.push({ start, needsShare })
      startWaiting()
    },
    started () {
      const share = here
      if (share === undefined) return () => {}
      share.isTaken = true
      return () => {
        share.isTaken = false
        if (share !== here) free.push(share)
      }
    },
    moveOn,
    enterCall (members) {
      away = true
      leave()
      enter(members)
    },
    leaveCall (limits = []) {
      try {
        goHome()
        for (const [file, value] of limits) put(file, value)
        return undefined
      } catch (error) {
        return codeOf(error)
      }
    },
    goHome
  }
}

function makeShare (prefixes: readonly string[], number: number, processes: number): Share {
  const directories: string[] = []
  try {
    for (const prefix of prefixes) {
      mkdirSync(`${prefix}${number}`)
      directories.push(`${prefix}${number}`)
    }
    put(join(directories.at(-1) ?? '', 'pids.max'), String(processes))
  } catch (error) {
    // Each start tries to make another one.
    for (const directory of directories) rmdirSync(directory)
    throw error
  }
  return { directories, isTaken: false }
}

function enter (members: readonly string[]): void {
  for (const file of members) put(file, String(process.pid))
}

/** The error's code says that it is one of a group: the program isn't to blame. */
function put (file: string, value: string): void {
  try {
    writeFileSync(file, value)
  } catch (error) {
    throw Object.assign(new Error('a control group refused'), { code: `cgroup ${codeOf(error)}` })
  }
}

/** Not `errorCode` of the contract: a helper loads as little as it can. */
export function codeOf (error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
