import type { PathContext } from '@toolyard/workspace'

/** Files that a request may reach, for as long as it takes. */
export interface FileSpace extends PathContext {
  /**
   * How many bytes may be added; undefined for any number.
   *
   * @throws WorkspaceFailure QUOTA_EXCEEDED where there are too many already.
   */
  room: () => Promise<number | undefined>
  /** Notes that so many were added, or taken away. */
  changed: (bytes: number) => void
  leave: () => void
}
