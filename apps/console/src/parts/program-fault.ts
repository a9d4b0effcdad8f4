import type { ToolFinding } from '@toolyard/contract'

/** Rules of programs that are missing, can't be executed, or aren't those that were pinned. */
const rules: ReadonlySet<string> = new Set(['AC12', 'SC12', 'fault 48'])

export function programFault (name: string, findings: readonly ToolFinding[]): ToolFinding | undefined {
  return findings.find(({ tool, rule }) => tool === name && rules.has(rule))
}
