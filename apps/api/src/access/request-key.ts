import type { FastifyRequest } from 'fastify'

/** Told to who has no key that is known here. */
export const unauthorizedText = 'Unauthorized: send an API key in the header x-api-key, or as Authorization: Bearer KEY'

/**
 * The API key that a request came with; undefined for none. `Authorization` counts only where there is no `x-api-key`: a
 * proxy in between may need a token of its own there.
 */
export function keyOf ({ headers }: FastifyRequest): string | undefined {
  const key = headers['x-api-key']
  if (typeof key === 'string') return key
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
}
