/** The kept part of a stream, and how many bytes went through it. */
export interface Captured {
  kept: Buffer
  totalBytes: number
  /** The last 8 KiB of a stream of which not all was kept. */
  end?: Buffer
}

export interface Capture {
  add (chunk: Buffer): void
  totalBytes (): number
  read (): Captured
}

const endBytes = 8_192

/**
 * Keeps the first `maxBytes` of a stream and counts the rest. One buffer that doubles, not a list of chunks: a tool
 * that writes byte by byte would otherwise cost a hundred times its output.
 */
export function createCapture (maxBytes: number): Capture {
  let buffer: Buffer = Buffer.alloc(0)
  let length = 0
  let totalBytes = 0
  /** The last of the part that isn't kept. */
  let end = Buffer.alloc(0)

  return {
    add (chunk) {
      totalBytes += chunk.length
      const part = chunk.subarray(0, maxBytes - length)
      if (part.length < chunk.length) end = lastBytes(end, chunk.subarray(part.length))
      if (part.length === 0) return
      if (length + part.length > buffer.length) {
        buffer = grown(buffer, length, Math.min(maxBytes, Math.max(buffer.length * 2, length + part.length)))
      }
      part.copy(buffer, length)
      length += part.length
    },
    totalBytes: () => totalBytes,
    read () {
      const kept = buffer.subarray(0, length)
      return { kept, totalBytes, ...(totalBytes > length ? { end: lastBytes(kept, end) } : {}) }
    }
  }
}

function lastBytes (before: Buffer, chunk: Buffer): Buffer<ArrayBuffer> {
  return Buffer.concat([before.subarray(-endBytes), chunk.subarray(-endBytes)]).subarray(-endBytes)
}

function grown (buffer: Buffer, length: number, size: number): Buffer {
  const larger = Buffer.allocUnsafe(size)
  buffer.copy(larger, 0, 0, length)
  return larger
}
