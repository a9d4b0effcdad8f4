/** For one call of a tool; absent fields have the sandbox's defaults. */
export interface ToolLimits {
  /** Seconds of processor time of one process. */
  cpuSec?: number
  /** Private memory of one process, in bytes. */
  memoryBytes?: number
  fileBytes?: number
  /** Processes and threads of one call. */
  processes?: number
  openFiles?: number
  /** Size of the private temporary directory, in bytes. */
  tempBytes?: number
  /** Bytes of its output that are kept; never more than the service keeps. */
  outputBytes?: number
}
