/** What a canary is to try. */
export interface CanaryTask {
  /** A file that it must not be able to read. */
  secret: string
  /** Files that it must not be able to write. */
  outside: readonly string[]
  /** A port of 127.0.0.1 where somebody listens. */
  tcpPort: number
  /** Unix sockets where somebody listens; one that begins with NUL has no file. */
  sockets: readonly string[]
  /** More visible processes than these are somebody else's. */
  maxProcesses: number
  /** Argument of a `sleep` that it leaves behind; it tells this one from all others. */
  sleepSeconds: string
}
