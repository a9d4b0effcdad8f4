/** Whether a value is what an answer must have at this place. Only what is read here of an answer is looked at. */
export type Shape = (value: unknown) => boolean

/** A field that isn't named may have any value. */
export type Fields<T> = { readonly [Name in keyof T]?: Shape }

export const text: Shape = value => typeof value === 'string'

export const number: Shape = value => typeof value === 'number'

/** An object with these fields, and any others. */
export function record (fields: Readonly<Partial<Record<string, Shape>>>): Shape {
  return value => typeof value === 'object' && value !== null && !Array.isArray(value) &&
    Object.entries(fields).every(([name, isField]) => isField === undefined || isField(Reflect.get(value, name)))
}

/** A list of such values. */
export function list (isItem: Shape): Shape {
  return value => Array.isArray(value) && value.every(isItem)
}
