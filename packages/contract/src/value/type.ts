import type { TSchema, Type as TypeBox } from 'typebox'

/*
 * Schemas are JSON Schemas that TypeScript reads types from: TypeBox's types, made by the few of its builders that are
 * needed here. TypeBox's own builders are 300 files and take 0.1 s of a process's start, for objects like `{type: 'string'}`.
 */

type Options = Record<string, unknown>
interface Properties { properties: Record<string, object> }
type Builders = Pick<typeof TypeBox, 'Array' | 'Boolean' | 'Enum' | 'Integer' | 'Intersect' | 'Literal' | 'Null' | 'Number' | 'Object' | 'Omit' |
  'Optional' | 'Pick' | 'Record' | 'Refine' | 'String' | 'Union' | 'Unknown' | 'Unsafe'>

/** These marks aren't enumerable and not in the JSON, as in TypeBox: what was built, that a property may be absent, and checks. */
const kindMark = '~kind'
const optionalMark = '~optional'
const refineMark = '~refine'

const simple = (kind: string) => (options?: Options) => schema(kind, { type: kind.toLowerCase(), ...options })

const objectOf = (properties: Record<string, object>, options?: Options): object => {
  const required = Object.keys(properties).filter(name => !Object.hasOwn(properties[name] ?? {}, optionalMark))
  return schema('Object', { type: 'object', ...(required.length === 0 ? {} : { required }), properties, ...options })
}

const chosen = (from: Properties, chooses: (name: string) => boolean, options?: Options): object => (
  objectOf(Object.fromEntries(Object.entries(from.properties).filter(([name]) => chooses(name))), options)
)

const builders = {
  Array: (items: TSchema, options?: Options) => schema('Array', { type: 'array', items, ...options }),
  Boolean: simple('Boolean'),
  Enum: (values: readonly unknown[], options?: Options) => schema('Enum', { enum: values, ...options }),
  Integer: simple('Integer'),
  Intersect: (allOf: readonly TSchema[], options?: Options) => schema('Intersect', { allOf, ...options }),
  Literal: (value: unknown, options?: Options) => schema('Literal', { type: typeof value, const: value, ...options }),
  Null: simple('Null'),
  Number: simple('Number'),
  Object: objectOf,
  Omit: (from: Properties, names: readonly string[], options?: Options) => chosen(from, name => !names.includes(name), options),
  Optional: (of: object) => marked(of, optionalMark, true),
  Pick: (from: Properties, names: readonly string[], options?: Options) => chosen(from, name => names.includes(name), options),
  /** The names are any strings. */
  Record: (_names: TSchema, values: TSchema, options?: Options) => (
    schema('Record', { type: 'object', patternProperties: { '^.*$': values }, ...options })
  ),
  Refine: (of: object, check: (value: unknown) => boolean) => marked(of, refineMark, [{ check, error: () => 'Refine Error' }]),
  String: simple('String'),
  Union: (anyOf: readonly TSchema[], options?: Options) => schema('Union', { anyOf, ...options }),
  Unknown: (options?: Options) => schema('Unknown', { ...options }),
  Unsafe: (of: object) => marked(of, '~unsafe', null)
}

/** Builders of schemas, with TypeBox's names and types. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The builders are TypeBox's, made anew.
export const Type = builders as unknown as Builders

function schema (kind: string, json: object): object {
  return marked(json, kindMark, kind)
}

/** A copy with its marks and one more. */
function marked (of: object, mark: string, value: unknown): object {
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(of))
  return Object.defineProperty(copy, mark, { value, configurable: true, writable: true })
}
