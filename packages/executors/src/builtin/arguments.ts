/** A text argument without the white space around it; empty when it is missing or of another type. */
export function textArgument (value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}

/** An integer argument; the default when it is missing or out of bounds (RC36). */
export function integerArgument (value: unknown, bounds: { min: number, max: number, default: number }): number {
  return Number.isInteger(value) && Number(value) >= bounds.min && Number(value) <= bounds.max ? Number(value) : bounds.default
}
