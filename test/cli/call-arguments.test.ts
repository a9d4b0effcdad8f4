import fc from 'fast-check'
import t from 'tap'
import { readArguments, type ArgumentSchema } from 'toolyard'

/** A kind of argument: its schema, and values that fit it. */
const kinds: Record<string, { schema: ArgumentSchema, value: fc.Arbitrary<unknown> }> = {
  string: { schema: { type: 'string' }, value: fc.string() },
  number: { schema: { type: 'number' }, value: fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => value + 0) },
  integer: { schema: { type: 'integer' }, value: fc.integer() },
  boolean: { schema: { type: 'boolean' }, value: fc.boolean() },
  array: { schema: { type: 'array' }, value: fc.array(fc.jsonValue()) },
  object: { schema: { type: 'object' }, value: fc.dictionary(fc.string(), fc.integer(), { noNullPrototype: true }) },
  null: { schema: { type: 'null' }, value: fc.constant(null) },
  list: { schema: { type: ['integer', 'null'] }, value: fc.option(fc.integer()) },
  union: { schema: { anyOf: [{ type: 'boolean' }, { type: 'integer' }] }, value: fc.oneof(fc.boolean(), fc.integer()) },
  enum: { schema: { enum: [1, 2] }, value: fc.constantFrom(1, 2) }
}
const names = fc.oneof(fc.string({ minLength: 1 }).filter(name => !name.includes('=')), fc.constantFrom('__proto__', 'constructor', 'toString'))
const given = fc.constantFrom(...Object.values(kinds)).chain(({ schema, value }) => value.map(value => ({ schema, value })))
const calls = fc.uniqueArray(fc.tuple(names, given), { selector: ([name]) => name, maxLength: 8 })

function schemaOf (call: ReadonlyArray<readonly [string, { schema: ArgumentSchema }]>): ArgumentSchema {
  return { properties: Object.fromEntries(call.map(([name, { schema }]) => [name, schema])), additionalProperties: false }
}

t.test('arguments are read by their schema, whatever their names and values', async t => {
  await t.resolves(fc.assert(fc.asyncProperty(calls, async call => {
    const pairs = call.map(([name, { value }]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    const read = readArguments('tool', pairs, schemaOf(call))
    const meant = Object.fromEntries(call.map(([name, { value }]) => [name, value]))
    return JSON.stringify(read) === JSON.stringify(meant) && Object.getPrototypeOf(read) === Object.prototype
  })))
})

t.test('an argument that makes no sense is a usage error that names it, and no other error is thrown', async t => {
  const pair = fc.oneof(fc.string(), fc.tuple(names, fc.oneof(fc.string(), fc.json())).map(([name, text]) => `${name}=${text}`))
  await t.resolves(fc.assert(fc.asyncProperty(fc.array(pair, { maxLength: 6 }), calls, async (pairs, call) => {
    const schema = schemaOf(call)
    try {
      const read = readArguments('tool', pairs, schema)
      return Object.keys(read).every(name => Object.hasOwn(schema.properties ?? {}, name))
    } catch (error) {
      const { code, message } = error as { code?: string, message: string }
      return code === 'MISUSED' && (message.startsWith('--arg takes') || pairs.some(pair => message.includes(`'${pair.slice(0, pair.indexOf('='))}'`)))
    }
  })))
})
