/** One command of `toolyard`. What it needs, it imports when it runs, so that the others stay quick. */
export interface Command {
  name: string
  /** One line for the list of commands. */
  summary: string
  /** What `--help` prints. */
  help: string
  /** Resolves with the exit status; a command that serves may resolve before it ends. Errors are for the terminal. */
  run: () => Promise<number>
}
