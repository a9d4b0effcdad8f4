import { Buffer } from 'node:buffer'

/** What was kept of a body. */
export interface BoundedBody {
  bytes: Buffer
  /** Whether there was more than that. */
  truncated: boolean
}

/** Reads at most `maxBytes` of a stream and stops there: what is left is never received. */
export async function readBounded (stream: AsyncIterable<Buffer>, maxBytes: number): Promise<BoundedBody> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of stream) {
    const rest = maxBytes - length
    chunks.push(chunk.subarray(0, rest))
    length += Math.min(chunk.length, rest)
    if (chunk.length > rest) return { bytes: Buffer.concat(chunks), truncated: true }
  }
  return { bytes: Buffer.concat(chunks), truncated: false }
}
