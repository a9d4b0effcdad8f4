import { createHash, createPublicKey, verify, type KeyObject } from 'node:crypto'

/** Ed25519 keys in the form that Node takes begin with this. */
const keyHead = Buffer.from('302a300506032b6570032100', 'hex')
const bytesOf = { key: 42, signature: 74, whole: 64 } as const

interface PublicKey {
  id: Buffer
  key: KeyObject
}

/**
 * Checks a signature that minisign wrote, of the content as it is or of its BLAKE2b digest, and of the trusted comment.
 *
 * @returns why it doesn't hold; undefined when one of the keys made it
 */
export function signatureFault (content: Buffer, signature: string, keys: readonly string[]): string | undefined {
  const lines = signature.split(/\r?\n/)
  const [, written = '', trusted = '', whole = ''] = lines
  const comment = /^trusted comment: (.*)$/s.exec(trusted)?.[1]
  const [first, last] = [decoded(written, bytesOf.signature), decoded(whole, bytesOf.whole)]
  if (!(lines[0] ?? '').startsWith('untrusted comment:') || first === undefined || last === undefined || comment === undefined) return 'is no signature of minisign'
  const [algorithm, id, own] = [first.toString('latin1', 0, 2), first.subarray(2, 10), first.subarray(10)]
  const key = keys.map(keyOf).find(each => each?.id.equals(id) === true)?.key
  if (key === undefined) return 'was made with a key that is not in TRUSTED_KEYS'
  if (algorithm !== 'ED' && algorithm !== 'Ed') return 'is of an algorithm that is not known'
  const signed = algorithm === 'ED' ? createHash('blake2b512').update(content).digest() : content
  if (!verify(null, signed, key, own)) return 'is not of this content'
  return verify(null, Buffer.concat([own, Buffer.from(comment)]), key, last) ? undefined : 'has a comment that was changed'
}

function keyOf (text: string): PublicKey | undefined {
  const bytes = decoded(text.trim(), bytesOf.key)
  if (bytes === undefined || bytes.toString('latin1', 0, 2) !== 'Ed') return undefined
  return { id: bytes.subarray(2, 10), key: createPublicKey({ key: Buffer.concat([keyHead, bytes.subarray(10)]), format: 'der', type: 'spki' }) }
}

function decoded (text: string, length: number): Buffer | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === length ? bytes : undefined
}
