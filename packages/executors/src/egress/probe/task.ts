export type CanaryTask = { serve: true } | {
  /** A host and a port, the only one in its list. */
  listed: string
  /** Hosts and ports that the proxy must refuse. */
  refused: readonly string[]
  /** A TCP port of 127.0.0.1 where somebody listens outside, and one where another box does. */
  tcpPort: number
  neighbourPort: number
  /** A UDP port of 127.0.0.1. */
  udpPort: number
  /** A name that is looked up nowhere. */
  name: string
  /** Unix sockets where somebody listens; one that begins with NUL has no file. */
  sockets: readonly string[]
}
