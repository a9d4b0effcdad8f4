/** A text argument without the white space around it; empty when it is missing or of another type. */
export function textArgument (value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}

/** An integer argument; the default when it is missing or out of bounds. */
export function integerArgument (value: unknown, bounds: { min: number, max?: number, default: number }): number {
  const fits = Number.isSafeInteger(value) && Number(value) >= bounds.min && Number(value) <= (bounds.max ?? Infinity)
  return fits ? Number(value) : bounds.default
}

/** The texts of a list argument; empty when it is missing or of another type. */
export function textsArgument (value: unknown): string[] {
  return Array.isArray(value) ? value.filter(item => typeof item === 'string') : []
}
