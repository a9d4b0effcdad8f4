import { mkdirSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { HelperGroups } from '../table/groups.ts'

/** The control groups of a helper: what it starts is born where it is. */
interface OwnGroups {
  /** `shares` are for what it starts. */
  join (groups: HelperGroups): void
  /** Makes room for what is started next where it is. */
  makeRoom (): void
  /** Something was started where it is. The function that is returned is to be called when that ended. */
  started (): () => void
  /**
   * Moves the helper to a share without processes, unless it is in one. The kernel takes up to 10 ms, and nothing waits for it: what
   * is started meanwhile is born where the helper was before. So it is where the machine allows no more groups.
   */
  nextShare (): void
  /** The move to a share that has begun and not ended; undefined when there is none. */
  underWay (): Promise<void> | undefined
  /** To be called when no move is under way: it would take the helper, and what the call starts, out of the call's groups. */
  enterCall (members: readonly string[]): void
  /** Leaves those of a call, and sets the limits once it is only the call that they bound; answers why it can't be bounded. */
  leaveCall (limits?: ReadonlyArray<readonly [file: string, value: string]>): string | undefined
  /** Leaves those of a call that could not be left before. */
  goHome (): void
}

/**
 * The processor is shared between groups, not between processes: a call that starts a hundred of them has one share. The calls in it
 * have as many processes together as each may have, so that the number of those of root is bounded too.
 */
interface Share {
  /** In each hierarchy; the last one counts processes and threads. */
  directories: readonly string[]
  calls: number
  /** For how many calls there is room. */
  room: number
}

/** Threads of the helper, which is in the share of what it starts next. */
const ownThreads = 16

export function createOwnGroups (): OwnGroups {
  let own: readonly string[] = []
  let prefixes: readonly string[] = []
  let processes = 0
  let count = 0
  const free: Share[] = []
  let here: Share | undefined
  let moving: Promise<void> | undefined
  /** Whether it may be in the groups of a call. */
  let away = false

  function leave (): void {
    if (here?.calls === 0) free.push(here)
    here = undefined
  }

  function setRoom (share: Share, calls: number): void {
    const room = Math.max(1, calls)
    if (room === share.room) return
    put(join(share.directories.at(-1) ?? '', 'pids.max'), String(ownThreads + room * processes))
    share.room = room
  }

  async function move (): Promise<void> {
    let next: Share | undefined
    try {
      next = free.pop() ?? makeShare(prefixes, count++)
      setRoom(next, next.calls)
      for (const directory of next.directories) await writeFile(join(directory, 'cgroup.procs'), String(process.pid))
      leave()
      here = next
    } catch {
      // There may be as many groups as the machine allows. One that refused is tried again: each start would make another one.
      if (next !== undefined) free.push(next)
    }
  }

  function goHome (): void {
    if (!away) return
    enter(own)
    away = false
  }

  function nextShare (): void {
    if (prefixes.length === 0 || here?.calls === 0 || away) return
    moving ??= move().finally(() => { moving = undefined })
  }

  return {
    join (groups) {
      enter(groups.members)
      own = groups.members
      prefixes = groups.shares
      processes = groups.processes
      nextShare()
    },
    makeRoom () {
      if (here !== undefined) setRoom(here, here.calls + 1)
    },
    started () {
      const share = here
      if (share === undefined) {
        nextShare()
        return () => {}
      }
      share.calls++
      return () => {
        share.calls--
        try {
          setRoom(share, share.calls)
        } catch {
          // It is gone: what else the helper has started must not end with it.
          return
        }
        if (share.calls === 0 && share !== here) free.push(share)
      }
    },
    nextShare,
    underWay: () => moving,
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

function makeShare (prefixes: readonly string[], number: number): Share {
  const directories = prefixes.map(prefix => `${prefix}${number}`)
  for (const directory of directories) mkdirSync(directory)
  return { directories, calls: 0, room: 0 }
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
