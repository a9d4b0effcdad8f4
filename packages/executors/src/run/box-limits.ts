import type { Tool } from '@toolyard/manifests'
import { defaultLimits, type ProcessLimits } from '@toolyard/sandbox'

/** Node.js opens the modules of a server at once, and programs are written for the 1,024 files that a shell gives them. */
const serverLimits: ProcessLimits = { ...defaultLimits, openFiles: 1_024 }

/** The limits of a tool's box where its entry sets none. */
export function boxLimitsOf ({ run }: Pick<Tool, 'run'>): ProcessLimits {
  return run.kind === 'mcp' ? serverLimits : defaultLimits
}
