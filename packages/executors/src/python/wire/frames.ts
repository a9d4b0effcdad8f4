import { around, isRecord, writeJson } from '@toolyard/contract/terms'
import type { Socket } from 'node:net'
import { wellFormed } from '../../run/json.ts'

/** From a Python process. Its fields may be anything: code of tools runs in there. */
export type Message = Readonly<Record<string, unknown>>

const headerBytes = 4

/** A message as a frame: its length in four bytes, big-endian, then its JSON. */
export function encodeFrame (message: object): Buffer {
  const content = Buffer.from(writeJson(around(message)))
  const header = Buffer.alloc(headerBytes)
  header.writeUInt32BE(content.length)
  return Buffer.concat([header, content])
}

/** The message in a frame; an empty one for what is no JSON object. */
export function decodeFrame (content: Buffer): Message {
  try {
    const message: unknown = JSON.parse(wellFormed(content.toString('utf8')))
    return isRecord(message) ? message : {}
  } catch {
    return {}
  }
}

/**
 * Cuts a stream into frames. The returned function takes chunks, and says false from the first frame on that is longer
 * than `maxBytes`: nothing after it can be read.
 */
export function createFrameReader (maxBytes: number, onFrame: (content: Buffer) => void): (chunk: Buffer) => boolean {
  let header = Buffer.alloc(0)
  let content: Buffer | undefined
  let length = 0

  /** Takes what it needs of the bytes and returns how many these were; -1 for a frame that is too long. */
  function take (bytes: Buffer): number {
    if (content === undefined) {
      const part = bytes.subarray(0, headerBytes - header.length)
      header = Buffer.concat([header, part])
      if (header.length < headerBytes) return part.length
      if (header.readUInt32BE() > maxBytes) return -1
      content = Buffer.allocUnsafe(header.readUInt32BE())
      length = 0
      finish(content)
      return part.length
    }
    const taken = bytes.copy(content, length)
    length += taken
    finish(content)
    return taken
  }

  function finish (frame: Buffer): void {
    if (length < frame.length) return
    content = undefined
    header = Buffer.alloc(0)
    onFrame(frame)
  }

  return chunk => {
    for (let at = 0; at < chunk.length;) {
      const taken = take(chunk.subarray(at))
      if (taken < 0) return false
      at += taken
    }
    return true
  }
}

/** The first message of a connection, or nothing ever; what comes after it is for whoever reads next. */
export async function firstMessage (replies: Socket, maxBytes: number): Promise<Message> {
  return await new Promise(resolve => {
    const read = createFrameReader(maxBytes, content => {
      replies.off('data', onData)
      resolve(decodeFrame(content))
    })
    const onData = (chunk: Buffer): void => { if (!read(chunk)) replies.destroy() }
    replies.on('data', onData)
  })
}
