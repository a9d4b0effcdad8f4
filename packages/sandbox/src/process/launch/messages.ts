/** A process for the helper to start, one line of JSON on its stdin. */
export interface StartMessage {
  id: number
  program: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd: string
  /** What it is told as its own name; its path when absent. */
  name?: string | undefined
  /** Paths of what becomes stdin, stdout and stderr. The helper opens them and removes the paths. */
  pipes: { stdin: string, stdout: string, stderr: string }
  /** Keeps stdin from ending, until a LetGoMessage: a pipe that somebody else writes to. */
  hold?: true | undefined
  /** What becomes 3, 4 and so on: paths to open for reading and writing. */
  files: readonly string[]
  mark?: number | undefined
  /** `members`: files that the helper writes its own id to before the start. `limits`: what is written to which file after it. */
  group?: { members: readonly string[], limits: ReadonlyArray<readonly [file: string, value: string]> } | undefined
}

/** Files that the helper writes its id to, so that what it starts is in these control groups. */
export interface JoinMessage {
  id: number
  join: readonly string[]
}

/** Ends the helper's hold on the stdin of a process. It gets no answer. */
export interface LetGoMessage {
  letGo: number
}

/** FIFOs for the helper to make. */
export interface MakePipesMessage {
  id: number
  make: readonly string[]
}

/**
 * What the helper says, a line each: a process runs (`started` as in
 * ProcessEntry; `refused`: why it couldn't be bounded, so it is to be ended), one ended, something could not be done, or was done.
 */
export type HelperMessage =
  | { id: number, pid: number, started?: number, refused?: string }
  | { id: number, code: number | null, signal: NodeJS.Signals | null }
  | { id: number, error: string }
  | { id: number, made: true }
