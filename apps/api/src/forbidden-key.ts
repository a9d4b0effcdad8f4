/** JSON that has this key is legal, but code that merges objects takes it for the prototype. */
export const forbiddenKey = '__proto__'

/** Whether a parsed JSON value has the key, at any depth. */
export function hasForbiddenKey (value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Object.hasOwn(value, forbiddenKey) || Object.values(value).some(hasForbiddenKey)
}
