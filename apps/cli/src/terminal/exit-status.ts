/** docs/command-line.md has the same table. */
export const exitStatus = {
  /** It did what it was asked. */
  done: 0,
  /** It failed: a tool, a job, a manifest, a start. */
  failed: 1,
  /** The command line makes no sense. */
  misused: 2,
  /** The service can't be reached. */
  unreachable: 3,
  /** The service refused the request: its key, a job that doesn't exist, a limit. */
  refused: 4,
  /** The call goes on: its job can be followed. */
  pending: 5,
  /** It worked, and only the beginning of the output was kept. */
  cut: 6
} as const

/** Why a command ends early: its message is for the terminal, its code for programs. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  readonly status: number
  readonly code: string
  readonly details: unknown

  constructor (message: string, { status = exitStatus.failed, code = 'FAILED', details }: { status?: number, code?: string, details?: unknown } = {}) {
    super(message)
    this.status = status
    this.code = code
    this.details = details
  }
}

export function misuse (message: string): CommandError {
  return new CommandError(message, { status: exitStatus.misused, code: 'MISUSED' })
}
