import { lostText } from '@toolyard/contract/terms'

/** Counts the steps of a validation; throws where there are too many. */
export type CountSteps = (steps: number) => void

/** Characters of a text that are read in the time of one step. */
export const charsPerStep = 64

/**
 * JSON with sorted keys: equal for equal values, whatever the order of their properties. Digits that a double loses stand as
 * they were written.
 */
export function canonical (value: unknown, count: CountSteps): string {
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'string') count(Math.ceil(value.length / charsPerStep))
    return JSON.stringify(value)
  }
  if (Array.isArray(value)) {
    count(value.length + 1)
    return `[${value.map((_, at) => canonicalMember(value, at, count)).join(',')}]`
  }
  const names = Object.keys(value).sort()
  count(2 * names.length + 1)
  return `{${names.map(name => `${JSON.stringify(name)}:${canonicalMember(value, name, count)}`).join(',')}}`
}

function canonicalMember (container: object, name: string | number, count: CountSteps): string {
  return lostText(container, name) ?? canonical(Reflect.get(container, name), count)
}
