import type { TSchema, Type as TypeBox } from 'typebox'

/*
 * The definitions of the formats are JSON Schemas that TypeScript reads types from: TypeBox's types, made by the few of
 * its builders that are needed here. TypeBox itself is 390 files and takes a fifth of the time that a worker needs to
 * start, for objects like `{type: 'string'}`.
 */

type Options = Record<string, unknown>
type Builders = Pick<typeof TypeBox, 'Array' | 'Boolean' | 'Enum' | 'Integer' | 'Literal' | 'Null' | 'Number' | 'Object' | 'Optional' | 'String' | 'Union' | 'Unknown' | 'Unsafe'>

/** Says of a property that it may be absent; as in TypeBox, it isn't enumerable and not in the JSON. */
const optionalMark = '~optional'

const simple = (type: string) => (options?: Options) => ({ type, ...options })

const builders = {
  Array: (items: TSchema, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: simple('boolean'),
  Enum: (values: readonly unknown[], options?: Options) => ({ enum: values, ...options }),
  Integer: simple('integer'),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Null: simple('null'),
  Number: simple('number'),
  Object: (properties: Record<string, object>, options?: Options) => {
    const required = Object.keys(properties).filter(name => !Object.hasOwn(properties[name] ?? {}, optionalMark))
    return { type: 'object', ...(required.length === 0 ? {} : { required }), properties, ...options }
  },
  Optional: (schema: TSchema) => Object.defineProperty({ ...schema }, optionalMark, { value: true }),
  String: simple('string'),
  Union: (anyOf: readonly TSchema[], options?: Options) => ({ anyOf, ...options }),
  Unknown: (options?: Options) => ({ ...options }),
  Unsafe: (schema: TSchema) => schema
}

/** Builders of schemas, with TypeBox's names and types; the schemas are plain JSON. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The builders are TypeBox's, made anew.
export const Type = builders as unknown as Builders
