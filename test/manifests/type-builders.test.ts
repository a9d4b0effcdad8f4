import t from 'tap'
import { Type } from '@toolyard/contract/type'
import { Type as TypeBox, type TSchema } from 'typebox'
import { Check } from 'typebox/schema'

type Builders = typeof Type

/** A schema by each builder, made once with ours and once with TypeBox's. */
function schemasOf (type: Builders): Record<string, TSchema> {
  const options = { description: 'What it is.', default: null }
  return {
    array: type.Array(type.String(), { maxItems: 3 }),
    boolean: type.Boolean(options),
    enum: type.Enum(['a', 'b'], options),
    integer: type.Integer({ minimum: 1 }),
    intersect: type.Intersect([type.Object({}), type.Object({ at: type.String() })], options),
    literals: type.Array(type.Union([type.Literal('a'), type.Literal(1), type.Literal(true)])),
    null: type.Null(options),
    number: type.Number({ maximum: 2 }),
    object: objectOf(type),
    empty: type.Object({}, { additionalProperties: false }),
    'all optional': type.Object({ a: type.Optional(type.String()) }),
    omit: type.Omit(objectOf(type), ['id', 'name']),
    pick: type.Pick(objectOf(type), ['id', 'name']),
    'pick with options': type.Pick(objectOf(type), ['name', 'id'], options),
    optional: type.Optional(type.Refine(type.String(), text => text !== '')),
    record: type.Record(type.String(), type.Unknown(), options),
    refine: type.Refine(type.String({ minLength: 1 }), text => text !== 'x'),
    union: type.Union([type.String(), type.Null()], options),
    unknown: type.Unknown(options),
    unsafe: type.Unsafe<string>({ type: 'string' })
  }
}

function objectOf (type: Builders) {
  const [name, more] = [type.Optional(type.String()), type.Optional(type.Null())]
  const properties = { id: type.String(), name, tags: type.Array(type.String()), more }
  return type.Object(properties, { additionalProperties: false })
}

const ours = schemasOf(Type)
const theirs = schemasOf(TypeBox)

for (const [name, schema] of Object.entries(theirs)) {
  t.test(`a schema is the one that TypeBox makes: ${name}`, async t => {
    // The order of fields too: answers and documents show it.
    t.equal(JSON.stringify(ours[name]), JSON.stringify(schema))
    t.strictSame(marksOf(ours[name]), marksOf(schema))
  })
}

t.test('an added check is made, also below an optional property', async t => {
  const schema = Type.Object({ a: Type.Optional(Type.Refine(Type.String(), text => text !== 'x')) })
  t.ok(Check(schema, {}))
  t.ok(Check(schema, { a: 'y' }))
  t.notOk(Check(schema, { a: 'x' }))
  t.notOk(Check(schema, { a: 1 }))
})

/** The hidden marks of a schema and of those in it, without functions. */
function marksOf (value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return []
  const hidden = Object.getOwnPropertyNames(value).filter(name => name.startsWith('~') && !Object.keys(value).includes(name)).sort()
  return [hidden, Object.values(value).map(marksOf)]
}
