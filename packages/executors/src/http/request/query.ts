import { writeJson, WrittenNumber } from '@toolyard/contract/terms'
import type { HttpQueryField } from '@toolyard/manifests'
import { argumentText, encoded, requireFewValues } from './argument-text.ts'

/** Levels of objects in one argument. */
const mostLevels = 20

/** One argument in a query or a form, as `name=value` parts that are ready to be sent; none for an empty list. */
export function queryParts (value: unknown, { name, argument, style }: Extract<HttpQueryField, { argument: string }>): string[] {
  const pair = (text: string): string => `${encoded(name, argument)}=${encoded(text, argument)}`
  if (style === 'json') return [pair(writeJson(value))]
  requireFewValues(value, argument)
  if (Array.isArray(value)) {
    const items = value.filter(item => item !== null)
    if (style === 'deepObject') return objectParts(value, name, argument, 0)
    if (style === 'repeat') return items.flatMap(item => isObject(item) ? objectParts(item, name, argument, 0) : [pair(argumentText(item, argument))])
    if (items.length === 0) return []
    const separator = { comma: ',', space: '%20', pipe: '|' }[style]
    return [`${encoded(name, argument)}=${items.map(item => encoded(argumentText(item, argument), argument)).join(separator)}`]
  }
  if (isObject(value)) return objectParts(value, name, argument, 0)
  return [pair(argumentText(value, argument))]
}

/** `name[key]=value`, however deep; a list has its places as keys. */
function objectParts (value: object, name: string, argument: string, level: number): string[] {
  return Object.entries(value).filter(([, item]) => item !== null && item !== undefined).flatMap(([key, item]) => {
    const inner = `${name}[${key}]`
    if (isObject(item) && level < mostLevels) return objectParts(item, inner, argument, level + 1)
    return [`${encoded(inner, argument)}=${encoded(argumentText(item, argument), argument)}`]
  })
}

function isObject (value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof WrittenNumber)
}
