/** Of OpenAI's function calling, by its documentation of supported schemas. */
export const strictLimits = {
  /** Levels of nested objects and lists. */
  depth: 10,
  properties: 5_000,
  enumValues: 1_000,
  /** UTF-16 units of all names of properties and definitions, and of all values of enum and const. */
  textChars: 120_000
} as const

/** Keywords that mean the same in strict mode. `oneOf` is written as `anyOf`. */
export const strictKeywords: ReadonlySet<string> = new Set([
  'type', 'description', 'title', 'enum', 'const', 'pattern', 'format', 'multipleOf', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum',
  'minItems', 'maxItems', '$ref', 'properties', 'items', 'anyOf', '$defs', 'definitions'
])

/**
 * Keywords that strict mode doesn't know and that only narrow or annotate: they are left out of the strict form, and
 * hold when the arguments are checked here.
 */
export const droppedKeywords: ReadonlySet<string> = new Set([
  '$schema', '$comment', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', 'minLength', 'maxLength', 'uniqueItems',
  'minProperties', 'maxProperties', 'contentEncoding', 'contentMediaType', 'required', 'additionalProperties', 'oneOf'
])

export const strictFormats: ReadonlySet<unknown> = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'])
