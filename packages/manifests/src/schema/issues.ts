import { isWhole, isWritten, lostText, pointerToken } from '@toolyard/contract/terms'
import type { ErrorObject } from 'ajv'
import { shortened } from '../finding/shortened.ts'
import { manifestLimits } from '../tool/limits.ts'

/** One problem of a call's arguments: where (a JSON pointer, `/` for the whole), and what a model should mend. */
export interface Issue {
  path: string
  message: string
}

/** Ajv's errors as issues: without doubles, and at most ten, since arguments can be wrong in very many places. */
export function issuesOf (errors: readonly ErrorObject[]): Issue[] {
  const issues = new Map<string, Issue>()
  for (const error of errors) {
    const issue = issueOf(error)
    issues.set(`${issue.path} ${issue.message}`, issue)
    if (issues.size === manifestLimits.issues) break
  }
  return [...issues.values()]
}

/**
 * The first number of which a double is another one, as what is wrong with it.
 *
 * @param kind `fraction`: only those that a double takes for whole numbers, or doesn't hold at all.
 */
export function lostNumber (value: unknown, path = '', kind: 'value' | 'fraction' = 'value'): Issue | undefined {
  if (typeof value !== 'object' || value === null || !isWritten(value)) return undefined
  for (const name of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const member: unknown = Reflect.get(value, name)
    const text = typeof member === 'number' ? lostText(value, name) : undefined
    if (text !== undefined && (kind === 'value' || member === Infinity || member === -Infinity || (Number.isInteger(member) && !isWhole(text)))) {
      const message = `is the number ${shortened(text)}, which a tool can't be sure to hold: send it as a text`
      return { path: shortened(`${path}/${pointerToken(String(name))}`), message }
    }
    const found = typeof member === 'object' ? lostNumber(member, `${path}/${pointerToken(String(name))}`, kind) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

function issueOf (error: ErrorObject): Issue {
  const params = error.params as Record<string, unknown>
  const at = (name: unknown) => ({ path: shortened(`${error.instancePath}/${pointerToken(String(name))}`) })
  const here = { path: shortened(error.instancePath || '/') }
  if (error.propertyName !== undefined) return { ...at(error.propertyName), message: shortened(`has a name that ${error.message ?? 'is not allowed'}`) }
  switch (error.keyword) {
    case 'propertyNames': return { ...at(params['propertyName']), message: 'has a name that is not allowed' }
    case 'required': return { ...at(params['missingProperty']), message: 'is required' }
    case 'additionalProperties': return { ...at(params['additionalProperty']), message: unknownArgument(params['additionalProperty']) }
    case 'unevaluatedProperties': return { ...at(params['unevaluatedProperty']), message: unknownArgument(params['unevaluatedProperty']) }
    case 'enum': return { ...here, message: oneOf(params['allowedValues']) }
    case 'const': return { ...here, message: `must be ${json(params['allowedValue'])}` }
    case 'type': return { ...here, message: `must be ${[params['type']].flat().join(' or ')}` }
    case 'uniqueItems': return { ...here, message: 'must not have equal items' }
    case 'false schema': return { ...here, message: 'is not allowed' }
    default: return { ...here, message: shortened(error.message ?? `does not fit ${error.keyword}`) }
  }
}

function unknownArgument (name: unknown): string {
  return `unknown argument ${json(name)}`
}

function oneOf (values: unknown): string {
  return shortened(`must be one of ${(Array.isArray(values) ? values : []).slice(0, 20).map(json).join(', ')}`)
}

function json (value: unknown): string {
  return shortened(JSON.stringify(value) ?? 'undefined')
}
