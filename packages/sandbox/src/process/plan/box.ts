import type { ProcessPlan } from './plan.ts'

/** Shuts processes in. The process layer knows no more of the sandbox than this. */
export interface Box {
  /**
   * Says how to run a plan inside.
   *
   * @param pinned a copy of the plan's pinned file, which takes its place inside
   * @throws Error when it can't be run inside; it isn't run at all then.
   */
  enter (plan: ProcessPlan, pinned?: string): BoxEntry
  /** The command line of such a box by itself: the same one means that a box would be built in the same way. */
  line (plan: ProcessPlan, pinned?: string): ProcessPlan
  /**
   * As `enter`, for a box that is made before its call: inside waits what becomes the program once it has its order
   * (`orderOf`), which it reads from the first descriptor behind `files`. Nothing of the plan is in it but what the box shows.
   * Absent where nothing can wait.
   */
  enterAhead? (plan: ProcessPlan, pinned?: string): BoxEntry
  /** The command line of such a box. */
  lineAhead? (plan: ProcessPlan, pinned?: string): ProcessPlan
}

/** The command line that builds the box around a process and runs it there. */
export interface BoxEntry {
  plan: ProcessPlan
  /** Paths of files that the command gets as 3, 4 and so on, opened for reading and writing. */
  files: readonly string[]
  status: BoxStatus
  /** The launcher that must start it, because the network that the box shares is there; absent: any. */
  launcher?: object
}

/** Readable at any time until it is closed, which is done once. */
export interface BoxStatus {
  read (): {
    /** Present once the process inside has run to its end; absent when it never came to run. */
    exitCode?: number
  }
  /** Its process has its files open: what it is handed loses its name. */
  started (): void
  close (): void
}
