import { freeName, isRecord } from '@toolyard/contract/terms'
import type { JsonSchema } from '../../tool/tool.ts'
import { dereferenced, OpenapiFault, text20, type OpenapiDocument } from './document.ts'
import { headerName, ownHeaders } from '../request/request.ts'
import { isCredential } from '../request/secrets.ts'
import { safeName } from './names.ts'
import { isObject, isPlainObject, type SchemaConverter } from './schema.ts'

/** An item of `query`. */
export type QueryDraft = string | { argument: string, name?: string, style?: 'comma' | 'space' | 'pipe' | 'deepObject' | 'json' }

export interface ArgumentsDraft {
  properties: Record<string, JsonSchema>
  required: string[]
  query: QueryDraft[]
  headers: Record<string, string>
  /** Arguments of the path, by their names there. */
  path: Map<string, string>
  /** Names of arguments. */
  taken: Set<string>
}

export interface Parameter {
  in: string
  name: string
  required: boolean
  fields: Record<string, unknown>
}

/** Headers that a parameter doesn't describe (OpenAPI 3.1, 4.8.12.1). */
const notParameters = new Set(['accept', 'content-type'])

/** Whether nobody gives a header: the service, or the connection, sets it. */
function isSetAlready (name: string): boolean {
  return notParameters.has(name.toLowerCase()) || ownHeaders.has(name.toLowerCase())
}

/** Parameters of a path and of its operation; those of the operation replace those of the path. */
export function parametersOf (document: OpenapiDocument, item: Record<string, unknown>, operation: Record<string, unknown>): Parameter[] {
  const found = new Map<string, Parameter>()
  for (const list of [item['parameters'], operation['parameters']]) {
    for (const each of Array.isArray(list) ? list : []) {
      const fields = dereferenced(document, each)
      const { in: place, name, required } = fields
      if (typeof place !== 'string' || typeof name !== 'string') continue
      found.set(`${place} ${name}`, { in: place, name, required: required === true || place === 'path', fields })
    }
  }
  return [...found.values()]
}

/**
 * Gives each parameter an argument and its place. One that can't be sent is left out with a note when it is optional.
 *
 * @throws OpenapiFault for a required one that can't be sent.
 */
export function placeParameters (parameters: readonly Parameter[], draft: ArgumentsDraft, converter: SchemaConverter): void {
  for (const parameter of parameters) {
    orLeaveOut(parameter, converter, () => {
      for (const part of partsOf(parameter, converter)) orLeaveOut(part, converter, () => { placeParameter(part, draft, converter) })
    })
  }
}

function orLeaveOut ({ required }: Parameter, converter: SchemaConverter, place: () => void): void {
  try {
    place()
  } catch (error) {
    if (!(error instanceof OpenapiFault) || required) throw error
    converter.notes.add(`${error.message}; it is left out`)
  }
}

/** An object by the usual style of the query is sent as its fields, each by itself. Frameworks of Java describe most queries so. */
function partsOf (parameter: Parameter, converter: SchemaConverter): Parameter[] {
  const { in: place, required, fields: { style = 'form', explode = true, content, schema } } = parameter
  if (place !== 'query' || style !== 'form' || explode !== true || content !== undefined) return [parameter]
  const converted = withoutNull(converter.convert(schema))
  if (!isPlainObject(converted)) return [parameter]
  const needed: readonly unknown[] = required && Array.isArray(converted['required']) ? converted['required'] : []
  return Object.entries(converted.properties).map(([name, schema]) => (
    { in: place, name, required: needed.includes(name), fields: { schema, description: schema['description'] } }
  ))
}

function placeParameter (parameter: Parameter, draft: ArgumentsDraft, converter: SchemaConverter): void {
  const { in: place, name, fields } = parameter
  const says = `has the ${place} parameter ${text20(name)}`
  if (place === 'header') {
    if (isSetAlready(name)) return
    if (!headerName.test(name)) throw new OpenapiFault(`${says}, which has a name that can't be sent`)
    if (isCredential(name)) throw new OpenapiFault(`${says}, a credential, which no call gives`)
  }
  if (place === 'cookie') throw new OpenapiFault(`${says}, and cookies aren't sent`)
  const content = isRecord(fields['content']) ? Object.entries(fields['content'])[0] : undefined
  if (content !== undefined && !/\bjson\b/.test(content[0])) throw new OpenapiFault(`${says} as ${text20(content[0])}`)
  const schema = converter.convert(content === undefined ? fields['schema'] : isRecord(content[1]) ? content[1]['schema'] : {})
  const style = content === undefined ? styleOf(parameter, schema, says) : 'json'
  if (content !== undefined && place !== 'query') throw new OpenapiFault(`${says} as JSON`)
  const argument = freeName(safeName(name), draft.taken)
  const description = described(name, fields['description'])
  draft.properties[argument] = { ...schema, ...description !== '' && { description } }
  if (parameter.required) draft.required.push(argument)
  if (place === 'path') draft.path.set(name, argument)
  else if (place === 'header') draft.headers[name] = `{${argument}}`
  else if (argument === name && style === undefined) draft.query.push(name)
  else draft.query.push({ argument, ...argument !== name && { name }, ...style !== undefined && { style } })
}

/** A name of letters that its argument lacks says more than the argument does. */
function described (name: string, written: unknown): string {
  const description = typeof written === 'string' ? written : ''
  if (!/[^\p{ASCII}]/u.test(name) || description.includes(name)) return description
  return description === '' ? text20(name) : `${text20(name)}: ${description}`
}

export type Style = Exclude<Extract<QueryDraft, object>['style'], undefined>

/** How a parameter is written; undefined for the way that is usual in its place. */
function styleOf ({ in: place, fields }: Parameter, schema: JsonSchema, says: string): Style | undefined {
  const { style = place === 'query' ? 'form' : 'simple', explode = style === 'form' } = fields
  if (style === 'deepObject' && place === 'query') return 'deepObject'
  if (isObject(schema)) throw new OpenapiFault(`${says}, an object by the style ${text20(style)}`)
  if (place !== 'query' && style !== 'simple') throw new OpenapiFault(`${says} by the style ${text20(style)}`)
  if (place !== 'query' || explode === true) return undefined
  if (style === 'form') return mayBeList(schema) ? 'comma' : undefined
  if (style === 'spaceDelimited' || style === 'pipeDelimited') return style === 'spaceDelimited' ? 'space' : 'pipe'
  throw new OpenapiFault(`${says} by the style ${text20(style)}`)
}

/** A list may be one of several choices, as which null is written too. */
function mayBeList ({ type, anyOf }: JsonSchema): boolean {
  if (type !== undefined) return [type].flat().includes('array')
  return !Array.isArray(anyOf) || anyOf.filter(isRecord).some(mayBeList)
}

/** Null isn't sent in a query. */
function withoutNull (schema: JsonSchema): JsonSchema {
  const { type } = schema
  return Array.isArray(type) && isObject(schema) && type.every(each => each === 'object' || each === 'null') ? { ...schema, type: 'object' } : schema
}
