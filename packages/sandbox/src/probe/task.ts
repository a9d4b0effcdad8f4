export interface CanaryTask {
  /** A file that it must not be able to read. */
  secret: string
  /** A directory of programs that holds files of a service, each with `text` in it. */
  tools: string
  text: string
  /** A file that appears once some of those were replaced. */
  replaced: string
  /** Files and directories of the service that runs it, each with its device and inode, which are the same by every path. */
  service: ReadonlyArray<{ path: string, id: string }>
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
