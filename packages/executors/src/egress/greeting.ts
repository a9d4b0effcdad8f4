/** A client's first message on a connection. */
export type Greeting =
  /** More bytes are needed to tell. */
  | { kind: 'more' }
  /** `name`: the host that it wants, by SNI. */
  | { kind: 'tls', name: string | undefined }
  | { kind: 'http' }
  /** It begins as TLS or HTTP does, and what it asks for can't be read. */
  | { kind: 'unclear' }
  | { kind: 'other' }

/** A greeting of TLS with keys for the time after quantum computers has about 2 KB. */
const mostBytes = 32_768
/** All of them are looked at for each piece that comes. Clients send one, or a few. */
const mostRecords = 64
const [handshakeRecord, clientHello, serverName] = [22, 1, 0]
const recordTypes = { least: 20, most: 24 }
const majorVersion = 3
/** Node's parser takes no longer ones. */
const mostLine = 16_384
const firstLine = /^[\r\n]*([^\r\n]*)([\r\n]?)/
/** What may become a request of HTTP, as lenient servers read one: with any method, and any white space. */
const requestBegun = /^(?:[!#$%&'*+.^`|~\w-]+(?:[\t\v\f ][\t\v\f\x20-\xff]*)?)?$/
const httpVersion = /[\t\v\f ]HTTP\/\d/i
/** A line that hasn't ended is waited for where it begins like a method: other protocols say a word and wait for an answer. */
const methodBegun = /^[\r\n]*(?:[A-Z]|$)/

/**
 * Tells TLS, HTTP and everything else apart by the first bytes. HTTP is told by its whole first line: other protocols say words, too.
 */
export function readGreeting (bytes: Buffer): Greeting {
  const [type = 0, version] = bytes
  const isRecord = type >= recordTypes.least && type <= recordTypes.most
  if (bytes.length === 0 || (isRecord && version === undefined)) return { kind: 'more' }
  if (isRecord && version === majorVersion) return readHello(bytes)
  const text = bytes.toString('latin1', 0, mostLine)
  const [, line = '', end = ''] = firstLine.exec(text) ?? []
  if (!requestBegun.test(line)) return { kind: 'other' }
  if (end === '') return { kind: !methodBegun.test(text) ? 'other' : bytes.length < mostLine ? 'more' : 'unclear' }
  return { kind: httpVersion.test(line) ? 'http' : 'other' }
}

function readHello (bytes: Buffer): Greeting {
  const message = joinRecords(bytes)
  if (message === undefined) return { kind: 'unclear' }
  if (message.length < 4) return moreOf(bytes)
  const length = message.readUIntBE(1, 3)
  if (message[0] !== clientHello || length > mostBytes) return { kind: 'unclear' }
  if (message.length < 4 + length) return moreOf(bytes)
  try {
    return { kind: 'tls', name: nameIn(message.subarray(4, 4 + length)) }
  } catch (error) {
    if (error instanceof RangeError) return { kind: 'unclear' }
    throw error
  }
}

function moreOf (bytes: Buffer): Greeting {
  return bytes.length > mostBytes ? { kind: 'unclear' } : { kind: 'more' }
}

/** A greeting may be cut into records anywhere; undefined where something else is between them, or they are too many. */
function joinRecords (bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    if (bytes[at] !== handshakeRecord || (at + 1 < bytes.length && bytes[at + 1] !== 3)) return undefined
    if (at + 5 > bytes.length) break
    const length = bytes.readUInt16BE(at + 3)
    if (length === 0 || parts.length === mostRecords) return undefined
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
