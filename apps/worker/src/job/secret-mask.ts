import type { CallError } from '@toolyard/contract'

const mark = '***REDACTED***'

/** Returns a function that hides the service's own keys in what tools print, whole wherever they stand. */
export function createSecretMask (secrets: readonly string[]): (text: string) => string {
  // The longest first: one key may begin like another.
  const literals = secrets.filter(secret => secret !== '').sort((a, b) => b.length - a.length)
  return text => literals.reduce((rest, literal) => rest.replaceAll(literal, mark), text)
}

/** The same in an error, whose message and details may be what the tool printed. */
export function maskError (error: CallError, mask: (text: string) => string): CallError {
  const { code, message, details } = error
  return { code, message: mask(message), ...(details === undefined ? {} : { details: maskValue(details, mask) }) }
}

function maskValue (value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value)
  if (Array.isArray(value)) return value.map(item => maskValue(item, mask))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [mask(name), maskValue(item, mask)]))
}
