import { HttpError } from '../terms/errors.ts'
import { limits } from '../terms/limits.ts'

const printable = new RegExp(`^[\\x21-\\x7e]{1,${limits.idempotencyKeyLength}}$`)

/**
 * Reads the `Idempotency-Key` header.
 *
 * @returns undefined when there is none.
 * @throws HttpError `VALIDATION_ERROR` when it can't be a key.
 */
export function parseIdempotencyKey (header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header === 'string' && printable.test(header)) return header
  throw new HttpError('VALIDATION_ERROR', `'Idempotency-Key' must be 1 to ${limits.idempotencyKeyLength} printable ASCII characters without spaces`)
}
