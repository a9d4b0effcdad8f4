/** Whether a value nests deeper than so many levels. Level by level, since recursion could exhaust the stack. */
export function isDeeperThan (depth: number, value: unknown): boolean {
  let level = [value].filter(isContainer)
  for (let at = 0; at < depth && level.length > 0; at++) {
    const next: object[] = []
    for (const container of level) {
      const items: readonly unknown[] = Array.isArray(container) ? container : Object.values(container)
      for (const item of items) if (isContainer(item)) next.push(item)
    }
    level = next
  }
  return level.length > 0
}

function isContainer (value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
