import t from 'tap'
import { entry, errors, load, names } from './fixture.ts'

const self = { $ref: '#/$defs/a' }

t.test('A6 AC2 a schema that can\'t be used disables only its own entry, and the finding has place and fix', async t => {
  for (const [schema, message] of [
    [{ type: 'string' }, 'schema must describe an object'],
    [{ type: ['array', 'null'] }, 'schema must describe an object'],
    [{ $schema: 'http://json-schema.org/draft-03/schema#' }, 'schema is of an unknown version ("http://json-schema.org/draft-03/schema#")'],
    [{ $schema: 7 }, 'schema is of an unknown version (7)'],
    [{ properties: { a: { $ref: 'https://example.org/a.json' } } }, 'schema refers to "https://example.org/a.json", which is outside of it'],
    [{ properties: { a: { $ref: 'file:///etc/passwd' } } }, 'schema refers to "file:///etc/passwd", which is outside of it'],
    [{ allOf: [{ $ref: 'other.json#/a' }] }, 'schema refers to "other.json#/a", which is outside of it'],
    [{ properties: { a: { $ref: '#/$defs/none' } } }, /^schema does not compile: .*#\/\$defs\/none/],
    [{ $ref: '#' }, 'schema refers to itself without end: "# -> #"'],
    [{ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } }, 'schema refers to itself without end: "#/$defs/a -> #/$defs/a"'],
    [
      { properties: { x: { $ref: '#/$defs/a' } }, $defs: { a: { $ref: '#/$defs/b' }, b: { allOf: [{}, { allOf: [{ $ref: '#/$defs/a' }] }] } } },
      'schema refers to itself without end: "#/$defs/a -> #/$defs/b -> #/$defs/a"'
    ],
    [{ properties: { 'a/b c': { $ref: '#/properties/a~1b%20c' } } }, 'schema refers to itself without end: "#/properties/a~1b%20c -> #/properties/a~1b%20c"'],
    ...[
      { anyOf: [{ type: 'string' }, self] }, { oneOf: [self] }, { not: self }, { if: self }, { if: true, then: self }, { if: true, else: self },
      { dependentSchemas: { x: self } }, { dependencies: { x: self } }, { allOf: [{ anyOf: [{ not: { oneOf: [self] } }] }] }
    ].map(a => [{ properties: { x: self }, $defs: { a } }, 'schema refers to itself without end: "#/$defs/a -> #/$defs/a"'] as const),
    [{ properties: { x: { $ref: '#own' } }, $defs: { a: { $anchor: 'own', allOf: [{ $ref: '#own' }] } } }, 'schema refers to itself without end: "#/$defs/a -> #/$defs/a"'],
    [{ properties: { x: { $ref: '#own' } }, definitions: { a: { $id: '#own', allOf: [{ $ref: '#own' }] } } }, 'schema refers to itself without end: "#/definitions/a -> #/definitions/a"'],
    [{ properties: { x: { $ref: '#%6fwn' } }, $defs: { a: { $anchor: 'own', allOf: [{ $ref: '#%6fwn' }] } } }, 'schema refers to itself without end: "#/$defs/a -> #/$defs/a"'],
    [{ properties: { a: { type: 'strnig' } } }, /^schema is not valid JSON Schema: \/properties\/a\/type must be/],
    [{ properties: { a: { minimum: 'x' } } }, 'schema is not valid JSON Schema: /properties/a/minimum must be number'],
    [{ required: 'a' }, 'schema is not valid JSON Schema: /required must be array'],
    [{ properties: { a: { enum: [] } } }, 'schema is not valid JSON Schema: /properties/a/enum must NOT have fewer than 1 items'],
    [{ $schema: 'https://json-schema.org/draft/2020-12/schema', properties: { a: { enum: [] } } }, /^schema does not compile: enum/],
    [{ properties: { a: { nullable: true } } }, /^schema does not compile: "nullable"/],
    [{ properties: { a: { id: 'x' } } }, /^schema does not compile: .*"id"/],
    [{ $async: true }, 'schema must not use "$async"'],
    [{ properties: { a: { pattern: '(' } } }, 'schema has a pattern that is not a valid regular expression: "("'],
    [{ patternProperties: { '[z-a]': {} } }, 'schema has a pattern that is not a valid regular expression: "[z-a]"'],
    [{ $defs: { unused: { pattern: ')' } } }, 'schema has a pattern that is not a valid regular expression: ")"'],
    [{ properties: { 'a\ud83d': {} } }, 'schema has a name that is no Unicode text ("a\\ud83d")'],
    [{ properties: Object.fromEntries(Array.from({ length: 5_001 }, (_, index) => [`a${index}`, {}])) }, 'schema has more than 5000 subschemas']
  ] as const) {
    const registry = await load(t, entry({ name: 'fine' }), entry({ schema }))
    t.match(errors(registry), [{ rule: 'A6', index: 1, tool: 'probe', fix: /\w/ }])
    const text = errors(registry)[0]?.message.replace('tool[1] "probe": ', '')
    if (typeof message === 'string') t.equal(text, message)
    else t.match(text, message)
    t.strictSame(names(registry), ['fine'])
  }
})

t.test('A6 names and data that look like keywords are left alone', async t => {
  const registry = await load(t, entry({
    schema: {
      type: 'object',
      properties: {
        $ref: { type: 'string' },
        pattern: { type: 'string', default: '(a+)+' },
        example: { const: { $ref: 'https://example.org', pattern: '(a+)+' } },
        $async: { type: 'boolean' }
      },
      examples: [{ $ref: 'https://example.org' }]
    }
  }))
  t.strictSame(errors(registry), [])
})

t.test('A6 a schema may refer to itself for the values below a value, and to one place more than once', async t => {
  const tree = { anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/$defs/tree' } }] }
  const both = { allOf: [{ $ref: '#/$defs/text' }, { $ref: '#/$defs/text' }] }
  const registry = await load(t, entry({
    schema: {
      type: 'object', properties: { self: { $ref: '#' }, tree: { $ref: '#/$defs/tree' }, both: { $ref: '#/$defs/both' } }, $defs: { tree, both, text: { type: 'string' } }
    }
  }))
  t.strictSame(errors(registry), [])
  t.strictSame(names(registry), ['probe'])
})

t.test('A6 unknown keywords and formats are no error', async t => {
  const registry = await load(t, entry({ schema: { type: 'object', properties: { a: { type: 'string', format: 'iban', 'x-ui': { pattern: 1 } } } } }))
  t.strictSame(errors(registry), [])
  t.ok(registry.get('probe')?.validate({ a: 'DE' }).ok)
})

t.test('A6 keywords of older drafts are reported with the current ones', async t => {
  for (const [schema, fix] of [
    [{ id: 'https://example.org/x' }, /^Write \$id/],
    [{ properties: { a: { id: 'x' } } }, /^Write \$id/],
    [{ properties: { a: { type: 'integer', minimum: 0, exclusiveMinimum: true } } }, /^Write the bound itself/],
    [{ properties: { a: { type: 'string', required: true } } }, /^List the names/]
  ] as const) t.match(errors(await load(t, entry({ schema }))), [{ rule: 'A6', fix }])
})

t.test('A6 a validation reports every fault of a schema', async t => {
  const schema = { type: 'string', properties: { a: { pattern: '(' }, b: { pattern: '[z-a]' }, c: { $ref: 'other.json' }, d: { type: 'strnig', minimum: 'x' } } }
  t.strictSame(errors(await load(t, entry({ schema }))).map(({ message }) => message.replace('tool[0] "probe": schema ', '')), [
    'must describe an object',
    'refers to "other.json", which is outside of it',
    'has a pattern that is not a valid regular expression: "("',
    'has a pattern that is not a valid regular expression: "[z-a]"',
    'is not valid JSON Schema: /properties/d/minimum must be number',
    'is not valid JSON Schema: /properties/d/type must be one of "array", "boolean", "integer", "null", "number", "object", "string"'
  ])
})

t.test('a pattern of Python is named as such, with what to write instead', async t => {
  for (const [pattern, fix] of [
    ['(?i)yes', /syntax of Python.*both cases/], ['(?P<year>\\d+)', /in place of a group with a name/], ['\\A\\d+\\Z', /write \^ in place of .*write \$ in place of/],
    ['(?P<a>x)(?P=a)', /again in place of/], ['a(?#remark)b', /leave the remark out/], ['(a)?(?(1)b|c)', /write each case out/]
  ] as const) t.match(errors(await load(t, entry({ schema: { properties: { a: { pattern } } } }))), [{ message: /has a pattern that/, fix }], pattern)
})
