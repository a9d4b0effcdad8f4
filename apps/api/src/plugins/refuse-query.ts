import { HttpError, isRecord } from '@toolyard/contract'
import type { FastifyRequest } from 'fastify'

/**
 * Of routes that take no query: a parameter that was meant to narrow an answer, or a change, isn't ignored.
 *
 * @throws HttpError `VALIDATION_ERROR`
 */
export async function refuseQuery ({ query }: FastifyRequest): Promise<void> {
  const [name] = isRecord(query) ? Object.keys(query) : []
  if (name !== undefined) throw new HttpError('VALIDATION_ERROR', `'${name.slice(0, 80)}' is not a known parameter (known: none)`)
}
