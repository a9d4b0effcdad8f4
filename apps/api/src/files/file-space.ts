import type { Addition, Allowance, PathContext, ToDisk } from '@toolyard/workspace'
import type { Stats } from 'node:fs'

/** Files that a request may reach, for as long as it takes. */
export interface FileSpace extends PathContext {
  /**
   * Begins to add something, for which room is kept until it ends.
   *
   * @throws WorkspaceFailure QUOTA_EXCEEDED where there is no room for it
   */
  allow: (addition: Addition) => Promise<Allowance>
  /** Notes that so many bytes were taken away; undefined for an unknown number. */
  freed: (bytes: number | undefined) => void
  /** Told instead of a failure, such as that the session was removed meanwhile. */
  gone: () => Error | undefined
  leave: () => void
}

/** The files that a request reaches at a URL. */
export interface RequestedSpace extends FileSpace {
  signal: AbortSignal
  /** Does a piece of a listing when the turn of who asks comes. @throws HttpError `UNAVAILABLE` when it doesn't come in time. */
  inTurn: <T>(work: () => Promise<T>) => Promise<T>
  /** Does what syncs a file when the turn of who asks comes. @throws HttpError `UNAVAILABLE` as `inTurn`. */
  toDisk: ToDisk
}

/** Of a space without a quota. */
export const unlimited: Allowance = { add: () => {}, replace: () => {}, end: () => {} }

/** The bytes that go with a file: none of its holes, and none at all while it has another name. */
export function bytesFreedBy (stats: Stats | undefined): number {
  return stats === undefined || stats.nlink > 1 ? 0 : Math.min(stats.size, stats.blocks * 512)
}
