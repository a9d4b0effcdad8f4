import type { ParseArgsConfig } from 'node:util'

/** One command of `toolyard`. What it needs, it imports when it runs, so that the others stay quick. */
export interface Command {
  name: string
  /** One line for the list of commands. */
  summary: string
  /** What `--help` prints. */
  help: string
  /** Its options besides `--help`; none when absent. */
  options?: NonNullable<ParseArgsConfig['options']>
  /** Whether it takes arguments that are no options; without it they are refused. */
  takesArguments?: true
  /** Whether it goes on when `run` has resolved; when it fails, it ends at once. */
  serves?: true
  /** Resolves with the exit status; a command that serves may resolve before it ends. Errors are for the terminal. */
  run: (given: CommandLine) => Promise<number>
}

/** What the user wrote behind a command's name. */
export interface CommandLine {
  options: Readonly<Record<string, string | boolean | Array<string | boolean> | undefined>>
  args: readonly string[]
}
