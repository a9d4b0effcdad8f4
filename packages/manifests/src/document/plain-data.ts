import { manifestLimits } from '../tool/limits.ts'

/**
 * Why a value read from YAML can't be used as JSON; undefined when it can. Aliases make it a graph: what it holds is
 * counted as if each were written out, and the count, as well as the depth, is bounded, so that cycles end too.
 */
export function plainDataFault (value: unknown, expansion: number = manifestLimits.yamlExpansion): string | undefined {
  const open: Array<{ value: unknown, depth: number }> = [{ value, depth: 0 }]
  let left = expansion
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next
    if (depth > manifestLimits.depth) return `nested deeper than ${manifestLimits.depth} levels`
    if (typeof value === 'string') left -= value.length
    const fault = scalarFault(value)
    if (fault !== undefined) return fault
    const items = Object.entries(typeof value === 'object' && value !== null ? value : {})
    left -= items.reduce((size, [key]) => size + key.length + 1, 0)
    if (left >= 0) for (const [, item] of items) open.push({ value: item, depth: depth + 1 })
    if (left < 0) return `holds more than ${expansion} characters and values once its aliases are followed`
  }
  return undefined
}

function scalarFault (value: unknown): string | undefined {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? undefined : `${value} is no number of JSON`
    case 'object':
      return value === null || Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype ? undefined : 'holds a value that JSON has not'
    case 'bigint':
      return Number.isFinite(Number(value)) ? undefined : 'holds a number that is too large'
    case 'string':
    case 'boolean':
      return undefined
    default:
      return 'holds a value that JSON has not'
  }
}
