import { around, isOfType, isRecord, WrittenNumber } from '@toolyard/contract/terms'
import { BuiltinFailure } from '../kit/handler.ts'
import { record, refuseUnknown, repeated, text } from './fields.ts'

export interface WorkflowParam {
  name: string
  required: boolean
  /** A type of JSON Schema; any other name says nothing that could be checked. */
  type?: string
  /** Absent: an empty text replaces a value that isn't given. */
  default?: unknown
}

const checkedTypes = ['array', 'object', 'integer', 'string', 'number', 'boolean']
const paramFields = ['name', 'type', 'required', 'default', 'description']
const namePattern = /^[A-Za-z_][\w-]*$/

/**
 * Reads the parameters of a workflow: a list of `{name, type, required, default}`, or a map of names to defaults.
 *
 * @throws BuiltinFailure naming the first place that is wrong.
 */
export function readParams (value: unknown, at: string): WorkflowParam[] {
  if (value === undefined) return []
  if (!Array.isArray(value) && !isRecord(value)) throw new BuiltinFailure(`${at} must be a list of parameters, or a map of names to defaults`)
  if (isRecord(value)) return Object.entries(value).map(([name, standard]) => ({ name, required: false, default: standard }))
  const params = value.map((param: unknown, index) => readParam(record(param, `${at}[${index}]`), `${at}[${index}]`))
  const double = repeated(params.map(({ name }) => name))
  if (double !== undefined) throw new BuiltinFailure(`${at}: two parameters are named '${double}'`)
  return params
}

/**
 * The values of a workflow's parameters: those of the call, then the defaults. What the workflow doesn't declare is
 * passed on as it is.
 *
 * @throws BuiltinFailure for one that is required and missing, null or empty, or not of its type.
 */
export function paramValues (params: readonly WorkflowParam[], given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const values: Record<string, unknown> = { ...given }
  for (const param of params) {
    const { name, required, type } = param
    const value = Object.hasOwn(given, name) ? given[name] : param.default
    if (required && (value === undefined || value === null || value === '')) throw new BuiltinFailure(`workflow param '${name}' is required`)
    if (value !== undefined && value !== null && type !== undefined && !mayBe(type, value)) throw new BuiltinFailure(`workflow param '${name}' must be of the type ${type}`)
    values[name] = value ?? (Object.hasOwn(given, name) || Object.hasOwn(param, 'default') ? null : '')
  }
  return around(values)
}

function readParam (param: Record<string, unknown>, at: string): WorkflowParam {
  refuseUnknown(param, paramFields, at)
  const name = text(param, ['name'], at)
  if (name === undefined || !namePattern.test(name)) throw new BuiltinFailure(`${at}.name must begin with a letter or _, and hold letters, digits, _ and -`)
  const type = text(param, ['type'], at)
  const { required = false } = param
  if (typeof required !== 'boolean') throw new BuiltinFailure(`${at}.required must be true or false`)
  return { name, required, ...(type === undefined ? {} : { type }), ...(Object.hasOwn(param, 'default') ? { default: param['default'] } : {}) }
}

function mayBe (type: string, value: unknown): boolean {
  return !checkedTypes.includes(type) || isOfType(value instanceof WrittenNumber ? value.toJSON() : value, type)
}
