import type { JobStep } from '@toolyard/contract'

/** Where a step stands, in columns and rows. */
export interface Placed {
  step: JobStep
  column: number
  row: number
}

/** Places steps in columns: each stands behind all that it waits for; within a column they keep their order. */
export function placeSteps (steps: readonly JobStep[]): { placed: Placed[], columns: number, rows: number } {
  const columns = new Map<string, number>()
  // Workflows have no circles; what would be one ends with the number of steps.
  for (let turn = 0; turn < steps.length; turn++) {
    let isSettled = true
    for (const { name, needs } of steps) {
      const column = Math.max(0, ...needs.map(need => (columns.get(need) ?? 0) + 1))
      if (columns.get(name) === column) continue
      columns.set(name, column)
      isSettled = false
    }
    if (isSettled) break
  }
  const filled: number[] = []
  const placed = steps.map(step => {
    const column = columns.get(step.name) ?? 0
    const row = filled[column] ?? 0
    filled[column] = row + 1
    return { step, column, row }
  })
  return { placed, columns: filled.length, rows: Math.max(0, ...filled) }
}
