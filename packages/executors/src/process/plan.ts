/** Everything that `execve` needs to know, and nothing of where it came from. */
export interface ProcessPlan {
  /** Absolute path. */
  program: string
  args: readonly string[]
  /** The whole environment of the process. */
  env: Readonly<Record<string, string>>
  cwd: string
}
