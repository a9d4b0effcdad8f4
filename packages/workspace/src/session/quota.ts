import { WorkspaceFailure } from '../failure/failure.ts'
import type { CountedSession, SessionCounts } from './counts.ts'
import { leastBytes } from './survey.ts'

/** File systems give out so much at a time. */
const blockBytes = 4_096

export interface Addition {
  /** Bytes that are known to come. */
  coming: number
  /** Files and directories that are made. */
  entries: number
  /** Bytes that go when it is there. */
  replaced: number
}

/** Counted with what others add meanwhile. */
export interface Allowance {
  /** Counts bytes that are written next. Those of the call before have been written by then. @throws WorkspaceFailure QUOTA_EXCEEDED */
  add: (bytes: number) => void
  /** Says what it replaces, when it is about to: that may have changed since it began. @throws WorkspaceFailure QUOTA_EXCEEDED */
  replace: (bytes: number) => void
  /** It stays, or nothing of it does. */
  end: (stays: boolean) => void
}

/** The room that is left in sessions: whether something is within the quota is decided here alone. */
export class SessionQuota {
  readonly #counts: SessionCounts
  /** Bytes that are still to come, by session, and of how many requests: what has come is in the counts. */
  readonly #kept = new Map<string, { bytes: number, requests: number }>()

  constructor (counts: SessionCounts) {
    this.#counts = counts
  }

  /**
   * Begins to add something, for which room is kept until it ends.
   *
   * @throws WorkspaceFailure QUOTA_EXCEEDED where there is no room for it
   */
  async allow (session: CountedSession, { coming, entries, replaced: expected }: Addition): Promise<Allowance> {
    const { id, quotaBytes } = session
    const beside = entries * leastBytes
    const mayTake = (used: number): boolean => used + this.#keptIn(id) + Math.max(0, coming + beside - expected) <= quotaBytes
    // While something comes, what is noted here is more exact than a new count.
    const known = this.#counts.freshBytes(session, used => this.#kept.has(id) && mayTake(used))
    if (known === undefined || !mayTake(known)) {
      const counted = await this.#counts.count(session)
      // More may have come since the end of the count.
      if (!mayTake(this.#counts.bytesNow(id) ?? counted)) throw overQuota(quotaBytes)
    }
    let [left, added, replaced, kept] = [coming, 0, expected, 0]
    // The file that it replaces is room for itself alone: until then it is there, and nobody knows whether it will go.
    const keep = (requests = 0): void => {
      const now = Math.max(left + beside - replaced, -added)
      this.#keep(id, now - kept, requests)
      kept = now
    }
    keep(1)
    let [placed, written] = [(): void => {}, (): void => {}]
    return {
      add: bytes => {
        const announced = Math.min(bytes, left)
        left -= announced
        added += bytes
        keep()
        written()
        written = this.#counts.write(id, bytes)
        const used = this.#counts.add(id, bytes)
        // What was announced has its room, even if a count that ran meanwhile has it twice.
        if (bytes > announced && used + this.#keptIn(id) > quotaBytes) throw overQuota(quotaBytes)
      },
      replace: bytes => {
        const isLess = bytes < replaced
        replaced = bytes
        keep()
        written()
        placed()
        placed = this.#counts.move(id, added)
        if (isLess && this.#counts.add(id, 0) + this.#keptIn(id) > quotaBytes) throw overQuota(quotaBytes)
      },
      end: stays => {
        placed()
        written()
        this.#keep(id, -kept, -1)
        this.#counts.add(id, stays ? inBlocks(added, entries) - added - replaced : -added)
      }
    }
  }

  /**
   * Counts a file of so many bytes that is about to be written as a whole.
   *
   * @throws WorkspaceFailure QUOTA_EXCEEDED where there is no room for it
   */
  async take (session: CountedSession, bytes: number): Promise<void> {
    const allowance = await this.allow(session, { coming: bytes, entries: 1, replaced: 0 })
    allowance.add(bytes)
    allowance.end(true)
  }

  #keptIn (id: string): number {
    return this.#kept.get(id)?.bytes ?? 0
  }

  #keep (id: string, bytes: number, requests = 0): void {
    const room = this.#kept.get(id) ?? { bytes: 0, requests: 0 }
    this.#kept.set(id, { bytes: room.bytes + bytes, requests: room.requests + requests })
    if (room.requests + requests === 0) this.#kept.delete(id)
  }
}

/** The size of a file, or a directory, with all entries that were made for it: no less than the next count will find. */
function inBlocks (bytes: number, entries: number): number {
  const blocks = Math.ceil(bytes / blockBytes)
  return blockBytes * (blocks === 0 ? entries : blocks + Math.max(0, entries - 1))
}

function overQuota (quotaBytes: number): WorkspaceFailure {
  return new WorkspaceFailure(`The files of the session would take more than its quota of ${quotaBytes} bytes; nothing was changed`, 'QUOTA_EXCEEDED')
}
