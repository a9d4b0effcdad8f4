import type { OpenApiDocument } from './openapi.ts'

type Schema = Record<string, unknown>

/** The document with its objects closed: a field that it doesn't name is a fault. What tools declare stays as it is. */
export function closedDocument (document: OpenApiDocument): object {
  const { components, paths } = structuredClone(document)
  const schemas = Object.fromEntries(Object.entries(components.schemas).map(([name, schema]) => [name, name.includes('.') ? schema : closed(schema, document)]))
  return { paths, components: { ...components, schemas } }
}

function closed (value: unknown, document: OpenApiDocument): unknown {
  if (Array.isArray(value)) return value.map(each => closed(each, document))
  if (typeof value !== 'object' || value === null) return value
  const schema = value as Schema
  if (Array.isArray(schema['allOf'])) return { ...schema, allOf: schema['allOf'].map(part => open(part as Schema, document)), unevaluatedProperties: false }
  const parts = Object.fromEntries(Object.entries(schema).map(([keyword, each]) => [keyword, closed(each, document)]))
  return isOpenObject(schema) ? { ...parts, unevaluatedProperties: false } : parts
}

/** A part of an object stays open, also where it is one of the components. */
function open (part: Schema, { components }: OpenApiDocument): unknown {
  return typeof part['$ref'] === 'string' ? components.schemas[part['$ref'].split('/').at(-1) ?? ''] : part
}

/** `properties` may also be the name of a property. */
function isOpenObject (schema: Schema): boolean {
  return schema['type'] === 'object' && typeof schema['properties'] === 'object' && schema['additionalProperties'] === undefined
}
