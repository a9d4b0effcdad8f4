import { isRecord } from '@toolyard/contract/terms'

/** Keywords whose objects have names in them that somebody has chosen. */
const named = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependentRequired'])
/** Keywords that hold schemas. */
const nesting = new Set(['items', 'prefixItems', 'additionalProperties', 'additionalItems', 'unevaluatedProperties', 'unevaluatedItems', 'contains', 'propertyNames', 'not', 'if', 'then', 'else', 'allOf', 'anyOf', 'oneOf'])
const plain = new Set(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties', 'minContains', 'maxContains', 'uniqueItems', 'deprecated', 'readOnly', 'writeOnly', 'nullable', 'required', 'default', 'const'])
const types = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

/**
 * What models read of a schema beside the names of its first level: a line for each text and each name, wherever it lies. Words
 * to a model work at every place, so that only what the format itself has is left out.
 */
export function schemaTexts (schema: unknown): string[] {
  if (!isRecord(schema)) return []
  return textsOf(schema, '', true).map(({ path, text }) => `${path}${text === undefined ? '' : `: ${text}`}`.replace(/[\r\n\u2028\u2029]+/g, ' '))
}

interface Line {
  path: string
  text?: string
}

function textsOf (schema: unknown, path: string, isTop = false): Line[] {
  if (Array.isArray(schema)) return schema.flatMap((each, index) => textsOf(each, `${path}/${index}`))
  if (!isRecord(schema)) return typeof schema === 'boolean' ? [] : [{ path, text: JSON.stringify(schema) }]
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const at = `${path}/${keyword}`
    if (named.has(keyword) && isRecord(value)) return Object.entries(value).flatMap(([name, inner]) => namedTexts(`${path}/${name}`, inner, isTop && keyword === 'properties'))
    if (nesting.has(keyword)) return textsOf(value, at)
    return isStructure(keyword, value, schema) ? [] : [{ path: at, text: typeof value === 'string' ? value : JSON.stringify(value) }]
  })
}

/** A name without a text has a line of its own, unless it stands in the first line. */
function namedTexts (path: string, inner: unknown, isShown: boolean): Line[] {
  const lines = Array.isArray(inner) ? [{ path, text: JSON.stringify(inner) }] : textsOf(inner, path)
  return lines.length === 0 && !isShown ? [{ path }] : lines
}

function isStructure (keyword: string, value: unknown, { properties }: Record<string, unknown>): boolean {
  if (keyword === 'type') return [value].flat().every(type => typeof type === 'string' && types.has(type))
  if (keyword === 'format') return typeof value === 'string' && /^[a-z-]{1,30}$/.test(value)
  if (keyword === '$schema') return typeof value === 'string' && /^https?:\/\/json-schema\.org\/[\w./-]+#?$/.test(value)
  if (keyword === 'required' && Array.isArray(value)) return value.every(name => typeof name === 'string' && isRecord(properties) && Object.hasOwn(properties, name))
  return plain.has(keyword) && (value === null || typeof value === 'number' || typeof value === 'boolean')
}
