/** Bounds processes together, with all that they start. The process layer knows no more of control groups than this. */
export interface ProcessGroups {
  /** Files that take the ids of processes: whoever starts the tools of a worker is in there. */
  members: readonly string[]
  /** The group of one call; undefined for limits that need none. */
  groupOf (limits: { memoryBytes?: number, processes?: number }): CallGroup | undefined
  close (): Promise<void>
}

/** The group of one call. */
export interface CallGroup {
  members: readonly string[]
  /** Written once the call's first process is in there: whoever starts it counts as well until then. */
  limits: ReadonlyArray<readonly [file: string, value: string]>
  /** To be called when its processes are gone; ends those that aren't, where the kernel can. */
  remove (): Promise<void>
}
