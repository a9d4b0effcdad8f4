import { shellWord } from './terminal.ts'

/** One command of `toolyard`. What it needs, it imports when it runs, so that the others stay quick. */
export interface Command {
  name: string
  /** One line for the list of commands. */
  summary: string
  /** The text of `--help` besides its options. */
  help: string
  /** Arguments that are no options, as `<name>` or `[paths...]`; none when absent. */
  arguments?: readonly string[]
  /** Its options besides `--help`: flags as `--queues <names>`, and what they mean. */
  options?: ReadonlyArray<readonly [flags: string, meaning: string]>
  /** Whether it goes on when `run` has resolved; when it fails, it ends at once. */
  serves?: true
  /** Commands below it, in place of `run`. */
  commands?: readonly Command[]
  /** Not in lists: programs call it. */
  hidden?: true
  /** Values of its first argument, for completion. */
  complete?: () => Promise<readonly string[]>
  run?: RunCommand
}

/** Resolves with the exit status, if that isn't `done`; a command that serves may resolve before it ends. Errors are for the terminal. */
export type RunCommand = (given: CommandLine) => Promise<number | void>

export interface CommandLine {
  /** By their names in camel case; a flag is true. */
  options: Readonly<Record<string, unknown>>
  args: readonly string[]
  words: readonly string[]
}

/** Of every command that doesn't serve. */
export const jsonOption = ['--json', 'print the result as JSON'] as const

/** An option with a value; undefined where it wasn't given. */
export function textOption (options: CommandLine['options'], name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

/** The option of a list that goes on where the page before ended. */
export const cursorOption = ['--cursor <cursor>', 'the next_cursor of the page before'] as const

/** The line below a page of a list that tells how the next one is had; none below the last page. */
export function nextPage (command: string, options: CommandLine['options'], cursor: string | null | undefined): string[] {
  if (typeof cursor !== 'string') return []
  const words = Object.entries({ ...options, cursor }).flatMap(([name, value]) => typeof value === 'string' ? [`--${name}`, shellWord(value)] : [])
  return [`More: ${[command, ...words].join(' ')}`]
}
