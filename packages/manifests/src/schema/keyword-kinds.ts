/** Keywords whose value maps names to subschemas: the names are not keywords. */
export const mapKeywords: ReadonlySet<string> = new Set([
  'properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'
])

/** Keywords whose value is data: nothing in it is a schema. */
export const dataKeywords: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'required', 'dependentRequired'])

/** Keywords that follow a reference. */
export const referenceKeywords: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef'])

/**
 * Keywords that compile whenever the meta-schema accepts them. A schema made of these alone is compiled at its first
 * use; one with any other keyword (references, identifiers, `nullable`, …) is compiled when it is loaded, so that a
 * fault is found then.
 */
export const plainKeywords: ReadonlySet<string> = new Set([
  '$schema', '$comment', 'title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly',
  'type', 'enum', 'const', 'format', 'pattern', 'contentEncoding', 'contentMediaType',
  'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minLength', 'maxLength',
  'items', 'minItems', 'maxItems', 'uniqueItems', 'contains',
  'properties', 'patternProperties', 'additionalProperties', 'propertyNames', 'required', 'minProperties', 'maxProperties',
  'allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else', 'definitions', '$defs'
])
