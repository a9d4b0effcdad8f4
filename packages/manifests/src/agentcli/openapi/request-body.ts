import { freeName, isRecord } from '@toolyard/contract/terms'
import type { JsonSchema } from '../../tool/tool.ts'
import { dereferenced, OpenapiFault, text20, type OpenapiDocument } from './document.ts'
import { safeName } from './names.ts'
import type { ArgumentsDraft, Style } from './parameters.ts'
import { isObject, isPlainObject, type PlainObject, type SchemaConverter } from './schema.ts'

/** `body` of a request. */
export type BodyDraft = 'json' | 'form' | { type: 'json' | 'form', argument?: string, styles?: Record<string, Style> }

/** Undefined: a request without a body. */
type Placed = BodyDraft | undefined

const jsonType = /^(?:application\/(?:[\w.+-]+\+)?json\b|text\/json\b|\*\/\*)/i
/** Operations one by one. Models write the fields that change, and documents describe these alone. */
const jsonPatch = /^application\/json-patch\+json\b/i
const formType = /^application\/x-www-form-urlencoded\b/i

/**
 * Makes arguments of the body: of an object its fields, of anything else, or where names meet, one argument.
 *
 * @throws OpenapiFault for a required body of a type that isn't sent, such as multipart/form-data.
 */
export function placeBody (document: OpenapiDocument, written: unknown, draft: ArgumentsDraft, converter: SchemaConverter): Placed {
  if (written === undefined) return undefined
  const { content, required, description } = dereferenced(document, written)
  const types = Object.entries(isRecord(content) ? content : {})
  const ofJson = types.filter(([each]) => jsonType.test(each))
  const [name, media] = ofJson.find(([each]) => !jsonPatch.test(each)) ?? ofJson[0] ?? types.find(([each]) => formType.test(each)) ?? []
  if (name === undefined) {
    const named = types.map(([each]) => text20(each)).join(', ') || 'nothing that is named'
    const says = `takes its body as ${named}; JSON and application/x-www-form-urlencoded are sent`
    if (required === true) throw new OpenapiFault(says)
    converter.notes.add(`${says}; it is left out`)
    return undefined
  }
  const type = formType.test(name) ? 'form' : 'json'
  const schema = converter.convert(isRecord(media) ? media['schema'] : {})
  const styles = type === 'form' && isRecord(media) ? stylesOf(media['encoding'], schema) : undefined
  if (type === 'json' && !/^(?:application\/json\s*(?:;.*)?|\*\/\*)$/i.test(name)) draft.headers['Content-Type'] = name
  if (isSpread(schema, draft, required === true)) {
    for (const [field, property] of Object.entries(schema.properties)) {
      draft.taken.add(field)
      draft.properties[field] = property
    }
    draft.required.push(...Array.isArray(schema['required']) ? schema['required'].filter(name => typeof name === 'string') : [])
    return styles === undefined ? type : { type, styles }
  }
  if (type === 'form' && schema['type'] !== 'object' && !('properties' in schema)) throw new OpenapiFault('takes a form that is no object')
  const argument = freeName('body', draft.taken)
  draft.properties[argument] = { ...schema, ...!('description' in schema) && typeof description === 'string' && { description } }
  if (required === true) draft.required.push(argument)
  return { type, argument, ...styles !== undefined && { styles } }
}

/** How the fields of a form are written where that isn't the usual way. */
function stylesOf (encoding: unknown, { properties }: JsonSchema): Record<string, Style> | undefined {
  const ways = isRecord(encoding) ? encoding : {}
  const fields = Object.entries(isRecord(properties) ? properties : {}).flatMap(([name, property]): Array<[string, Style]> => {
    const how = Object.hasOwn(ways, name) ? ways[name] : undefined
    const style = isRecord(property) ? styleOfField(isRecord(how) ? how : {}, isObject(property)) : undefined
    return style === undefined ? [] : [[name, style]]
  })
  return fields.length === 0 ? undefined : Object.fromEntries(fields)
}

/** An object of which nothing is said is JSON, as OpenAPI 3.1.1 has it; it is written in one other way alone. */
function styleOfField ({ style, explode, allowReserved, contentType }: Record<string, unknown>, isObject: boolean): Style | undefined {
  if (style === undefined && explode === undefined && allowReserved === undefined) {
    const type = contentType ?? (isObject ? 'application/json' : '')
    return typeof type === 'string' && jsonType.test(type) ? 'json' : undefined
  }
  if (isObject) return undefined
  if (style === 'deepObject') return 'deepObject'
  if (explode === true) return undefined
  if (style === 'spaceDelimited' || style === 'pipeDelimited') return style === 'spaceDelimited' ? 'space' : 'pipe'
  return explode === false ? 'comma' : undefined
}

/** Whether the fields of a body can be arguments beside the parameters. */
function isSpread (schema: JsonSchema, { taken }: ArgumentsDraft, isRequired: boolean): schema is PlainObject {
  if (!isPlainObject(schema) || (schema['additionalProperties'] !== undefined && schema['additionalProperties'] !== false)) return false
  if (!isRequired && Array.isArray(schema['required']) && schema['required'].length > 0) return false
  const names = Object.keys(schema.properties)
  return names.length > 0 && names.every(name => safeName(name) === name && !taken.has(name))
}
