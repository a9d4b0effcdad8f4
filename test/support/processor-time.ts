/** Processor time of this process so far, in milliseconds: what else the machine does counts for nothing. */
export function processorMs (): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
