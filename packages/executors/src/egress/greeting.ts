/** A client's first message on a connection. */
export type Greeting =
  /** More bytes are needed to tell. */
  | { kind: 'more' }
  /** `name`: the host that it wants, by SNI. */
  | { kind: 'tls', name: string | undefined }
  | { kind: 'http' }
  | { kind: 'other' }

/** A greeting of TLS with keys for the time after quantum computers has about 2 KB. */
const mostBytes = 32_768
const [handshakeRecord, clientHello, serverName] = [22, 1, 0]
const methodStart = /^[\r\n]{0,4}[A-Z]{3,20} /
const methodBegun = /^[\r\n]{0,4}[A-Z]{0,20}$/

/** Tells TLS, HTTP and everything else apart by the first bytes. Whatever is wrong with a greeting of TLS makes it `other`. */
export function readGreeting (bytes: Buffer): Greeting {
  if (bytes.length === 0) return { kind: 'more' }
  if (bytes[0] === handshakeRecord) return readHello(bytes)
  const text = bytes.toString('latin1', 0, 32)
  if (methodStart.test(text)) return { kind: 'http' }
  return methodBegun.test(text) ? { kind: 'more' } : { kind: 'other' }
}

function readHello (bytes: Buffer): Greeting {
  const message = joinRecords(bytes)
  if (message === undefined) return { kind: 'other' }
  if (message.length < 4) return moreOf(bytes)
  const length = message.readUIntBE(1, 3)
  if (message[0] !== clientHello || length > mostBytes) return { kind: 'other' }
  if (message.length < 4 + length) return moreOf(bytes)
  try {
    return { kind: 'tls', name: nameIn(message.subarray(4, 4 + length)) }
  } catch (error) {
    if (error instanceof RangeError) return { kind: 'other' }
    throw error
  }
}

function moreOf (bytes: Buffer): Greeting {
  return bytes.length > mostBytes ? { kind: 'other' } : { kind: 'more' }
}

/** A greeting may be cut into records anywhere; undefined where something else is between them. */
function joinRecords (bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    if (bytes[at] !== handshakeRecord || (at + 1 < bytes.length && bytes[at + 1] !== 3)) return undefined
    if (at + 5 > bytes.length) break
    const length = bytes.readUInt16BE(at + 3)
    if (length === 0) return undefined
    parts.push(bytes.subarray(at + 5, at + 5 + length))
    at += 5 + length
  }
  return Buffer.concat(parts)
}

/** @throws RangeError for what is cut short, or names two hosts. */
function nameIn (hello: Buffer): string | undefined {
  const fields = cursor(hello)
  fields.take(34)
  for (const size of [1, 2, 1] as const) fields.take(fields.number(size))
  if (fields.rest() === 0) return undefined
  const extensions = cursor(fields.take(fields.number(2)))
  let name: string | undefined
  while (extensions.rest() > 0) {
    const type = extensions.number(2)
    const content = extensions.take(extensions.number(2))
    if (type !== serverName) continue
    const list = cursor(content)
    const names = cursor(list.take(list.number(2)))
    const isHostName = names.number(1) === 0
    const host = names.take(names.number(2)).toString('latin1')
    if (!isHostName || names.rest() > 0 || name !== undefined) throw new RangeError('not one name')
    name = host
  }
  return name
}

function cursor (bytes: Buffer): { number: (size: 1 | 2) => number, take: (length: number) => Buffer, rest: () => number } {
  let at = 0
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('cut short')
    at += length
    return bytes.subarray(at - length, at)
  }
  return { number: size => take(size).readUIntBE(0, size), take, rest: () => bytes.length - at }
}
