/** Of OpenAI's function calling, by its documentation of supported schemas. */
export const strictLimits = {
  /** Levels of nested objects and lists. */
  depth: 10,
  properties: 5_000,
  enumValues: 1_000,
  /** UTF-16 units of all names of properties and definitions, and of all values of enum and const. */
  textChars: 120_000,
  /** UTF-16 units of the texts of one enum that has more values than `values`. */
  longEnum: { values: 250, chars: 15_000 }
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
const droppedKeywords: ReadonlySet<string> = new Set([
  '$schema', '$comment', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', 'minLength', 'maxLength', 'uniqueItems',
  'minProperties', 'maxProperties', 'contentEncoding', 'contentMediaType', 'required', 'additionalProperties', 'oneOf'
])

/** What tells the strict modes of providers apart. */
export interface StrictRules {
  /** Keywords that are left out. */
  dropped: ReadonlySet<string>
  /** Properties may be left out of a call: they need not be null. */
  keepsOptional: boolean
  takesRecursion: boolean
}

/** Anthropic refuses a request for each bound, and for most patterns. */
export const strictRules: Readonly<Record<'openai' | 'anthropic', StrictRules>> = {
  openai: { dropped: droppedKeywords, keepsOptional: false, takesRecursion: true },
  anthropic: {
    dropped: new Set([
      ...droppedKeywords, 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf', 'minItems', 'maxItems', 'pattern'
    ]),
    keepsOptional: true,
    takesRecursion: false
  }
}

/**
 * What the strict tools of one request to Anthropic may have, all together; it refuses the request for one more. `choices` are lists of
 * types and `anyOf`.
 */
export const strictRoom = { tools: 20, optional: 24, choices: 16 } as const

export const strictFormats: ReadonlySet<unknown> = new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'])
