/** Everything that `execve` needs to know, and nothing of where it came from. */
export interface ProcessPlan {
  /** Absolute path. */
  program: string
  args: readonly string[]
  /** The whole environment of the process. */
  env: Readonly<Record<string, string>>
  cwd: string
  /** Directories and files that it must be able to read when it runs in a box, beside its own program; absolute paths. */
  readable?: readonly string[]
}
