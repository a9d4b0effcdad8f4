import { isRecord } from '@toolyard/contract/terms'
import { placeOf } from '../document/place.ts'
import type { Finding } from '../finding/finding.ts'
import type { Tool } from '../tool/tool.ts'

/** A parameter of a class's `execute`, with Python's names for its kind; `INHERITED` where the class has no `execute` of its own. */
export interface ExecuteParameter {
  name: string
  kind: 'POSITIONAL_ONLY' | 'POSITIONAL_OR_KEYWORD' | 'VAR_POSITIONAL' | 'KEYWORD_ONLY' | 'VAR_KEYWORD' | 'INHERITED'
  optional: boolean
}

/** The parameters of the `execute` of a tool's class. */
export interface ExecuteSignature {
  tool: Tool
  parameters: readonly ExecuteParameter[]
}

/** Parameters that are told about, of one tool. */
const most = 20

/**
 * Where `inputs` and the signature of `execute` don't fit together, so that a call with arguments that are valid ends in a
 * TypeError. Arguments are passed by name; a default of `inputs` is always passed.
 */
export function signatureFindings (
  { tool: { name: tool, parameters: schema, source: { file, index } }, parameters }: ExecuteSignature
): Finding[] {
  const inputs = isRecord(schema['properties']) ? schema['properties'] : {}
  const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
  const path = ['tools', index, 'inputs']
  const warning = (name: string, says: string, fix: string): Finding =>
    ({ severity: 'warning', file, rule: 'P20', index, tool, path: Object.hasOwn(inputs, name) ? [...path, name] : path.slice(0, 2), message: `${placeOf([...path, name])} ${says}`, fix })
  if (parameters.some(({ kind }) => kind === 'INHERITED')) {
    const message = `${placeOf(['tools', index])} has a class without a method execute: every call fails`
    return [{ severity: 'warning', file, rule: 'PC15', index, tool, path: ['tools', index], message, fix: 'Call the method that does the work execute. It gets the arguments by name.' }]
  }
  const byName = parameters.filter(({ kind }) => kind === 'POSITIONAL_OR_KEYWORD' || kind === 'KEYWORD_ONLY')
  const takesAny = parameters.some(({ kind }) => kind === 'VAR_KEYWORD')
  return [
    ...parameters.filter(({ kind, optional }) => kind === 'POSITIONAL_ONLY' && !optional).map(({ name }) =>
      warning(name, 'never reaches execute, whose parameter of this name takes no argument by name: every call fails', 'Remove the / of its signature.')),
    ...byName.filter(({ name, optional }) => !optional && !isAlwaysPassed(inputs[name], required.includes(name)))
      .map(({ name }) => Object.hasOwn(inputs, name)
        ? warning(name, 'is not required, but execute takes it without a default: a call without it fails', 'Write required: true, or give the parameter of execute a default.')
        : warning(name, 'is not declared, but execute takes it without a default: a model does not know of it', 'Declare it with required: true, or give the parameter of execute a default.')),
    ...Object.keys(inputs).filter(name => !takesAny && !byName.some(parameter => parameter.name === name)).map(name =>
      warning(name, 'is not taken by execute: a call with it fails', 'Add the parameter to execute, or remove it here.'))
  ].slice(0, most)
}

function isAlwaysPassed (input: unknown, required: boolean): boolean {
  return required || (isRecord(input) && input['default'] !== undefined)
}
