import { setImmediate as turn } from 'node:timers/promises'

/** Warnings of Node.js while something is done. */
export async function warningsOf (act: () => unknown): Promise<string[]> {
  const warnings: string[] = []
  const hear = ({ name, message }: Error): void => { warnings.push(`${name}: ${message}`) }
  process.on('warning', hear)
  try {
    await act()
    // A warning is told in the turn after its cause.
    await turn()
    await turn()
  } finally {
    process.off('warning', hear)
  }
  return warnings
}
