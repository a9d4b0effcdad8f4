import type { FastifyRequest } from 'fastify'

/** Told to who sends no key. */
const noKeyText = 'Unauthorized: send an API key in the header x-api-key, or as Authorization: Bearer KEY'
/** Told to who sends another one than those that count here, which were revoked or never made. */
const unknownKeyText = 'Unauthorized: this API key isn\'t known here; send an API key that is, in the header x-api-key, or as Authorization: Bearer KEY'

/** For a request whose key doesn't open anything. */
export function unauthorizedText (key: string | undefined): string {
  return key === undefined ? noKeyText : unknownKeyText
}

/**
 * The API key that a request came with; undefined for none. `Authorization` counts only where there is no `x-api-key`: a
 * proxy in between may need a token of its own there.
 */
export function keyOf ({ headers }: FastifyRequest): string | undefined {
  const key = headers['x-api-key']
  if (typeof key === 'string') return key
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
}
