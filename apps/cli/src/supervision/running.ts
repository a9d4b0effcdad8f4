/** A process that serves, whatever it is. */
export interface Running {
  /** Resolves with how it ended: `exit status 1`, `signal SIGKILL`. Never rejects. */
  exited: Promise<string>
  /** Asks it to stop and waits for its end. */
  stop: () => Promise<void>
}
