import type { HelperGroups } from '../table/groups.ts'

/** A process for the helper to start, one line of JSON on its stdin. */
export interface StartMessage {
  kind: 'start'
  id: number
  program: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  cwd: string
  /** Its own name; its path when absent. */
  name?: string | undefined
  /** Paths of what becomes stdin, stdout and stderr. The helper opens them and removes the paths. */
  pipes: { stdin: string, stdout: string, stderr: string }
  /** Keeps stdin from ending, until a LetGoMessage: a pipe that somebody else writes to. */
  hold?: true | undefined
  /** Paths to open for reading and writing, as 3, 4 and so on. */
  files: readonly string[]
  /** `members`: files that the helper writes its own id to before the start. `limits`: what is written to which file after it. */
  group?: { members: readonly string[], limits: ReadonlyArray<readonly [file: string, value: string]> } | undefined
}

export interface JoinMessage extends HelperGroups {
  kind: 'join'
  id: number
}

/** Ends the helper's hold on the stdin of a process. It gets no answer. */
export interface LetGoMessage {
  kind: 'let-go'
  id: number
}

export interface MakePipesMessage {
  kind: 'make-pipes'
  id: number
  paths: readonly string[]
}

/** Places of this network namespace to listen on. The listeners go over the channel of handles, each with its place in the list. */
export interface ListenMessage {
  kind: 'listen'
  id: number
  at: ReadonlyArray<{ host: string, port: number }>
}

export type HelperRequest = StartMessage | JoinMessage | ListenMessage | LetGoMessage | MakePipesMessage

/**
 * The helper's messages, a line each: a process runs (`refused`: why it couldn't be bounded, so it is to be ended), one ended,
 * something could not be done, or was done.
 */
export type HelperMessage =
  | { kind: 'started', id: number, pid: number, refused?: string }
  | { kind: 'ended', id: number, code: number | null, signal: NodeJS.Signals | null }
  | { kind: 'failed', id: number, error: string }
  | { kind: 'done', id: number }
  /** `unheard`: places that nothing listens on. `owner`: a process that is in the user namespace which owns the network. */
  | { kind: 'listening', id: number, unheard: number[], owner: number }
