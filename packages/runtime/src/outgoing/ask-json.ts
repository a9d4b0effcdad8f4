import { orElse } from '@toolyard/contract/terms'
import { readBounded } from './bounded-body.ts'
import { openConnections } from './connections.ts'

export interface JsonRequest {
  method?: 'GET' | 'POST'
  headers: Readonly<Record<string, string>>
  /** How long all of it may take, in milliseconds. */
  ms: number
  /** Of the answer. */
  bytes: number
}

/**
 * Asks a server that the operator has named, which may be inside. No redirect is followed: it would take the headers elsewhere.
 *
 * @returns `body` is undefined for an answer that is no JSON
 * @throws Error for an answer that is too long; what keeps it from being read.
 */
export async function askJson (
  address: string, { method = 'GET', headers, ms, bytes: most }: JsonRequest
): Promise<{ status: number, body: unknown }> {
  const { origin, pathname, search } = new URL(address)
  const connections = openConnections({ allowPrivate: true })
  try {
    const { statusCode: status, body } = await connections.dispatcher.request({
      origin, path: `${pathname}${search}`, method, headers, signal: AbortSignal.timeout(ms)
    })
    const { bytes, truncated } = await readBounded(body.on('error', () => {}), most)
    if (truncated) throw new Error(`the answer has more than ${most} bytes`)
    return { status, body: orElse(() => JSON.parse(bytes.toString()) as unknown, undefined) }
  } finally {
    await connections.close()
  }
}
