import { Buffer } from 'node:buffer'

export interface BoundedBody {
  bytes: Buffer
  truncated: boolean
}

const blockBytes = 65_536

/** Reads at most `maxBytes` of a stream and stops there: what is left is never received. */
export async function readBounded (stream: AsyncIterable<Uint8Array>, maxBytes: number): Promise<BoundedBody> {
  // Copied together as they come: a body may have millions of chunks.
  const full: Buffer[] = []
  let block = Buffer.allocUnsafe(Math.min(maxBytes, blockBytes))
  let used = 0
  let rest = maxBytes
  const kept = (): Buffer => Buffer.concat([...full, block.subarray(0, used)])
  for await (const chunk of stream) {
    const part = chunk.subarray(0, rest)
    if (used + part.length > block.length) {
      full.push(block.subarray(0, used))
      block = Buffer.allocUnsafe(Math.max(blockBytes, part.length))
      used = 0
    }
    block.set(part, used)
    used += part.length
    rest -= part.length
    if (chunk.length > part.length) return { bytes: kept(), truncated: true }
  }
  return { bytes: kept(), truncated: false }
}
