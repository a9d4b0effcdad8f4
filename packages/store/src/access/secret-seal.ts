import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { isRecord, storedJson } from '@toolyard/contract/terms'

export interface SealKeys {
  /** 32 bytes, which seal and open. */
  current: Buffer
  /** Opens what was sealed before the key was changed. */
  previous: Buffer | undefined
}

const algorithm = 'aes-256-gcm'

/** Seals a value for its place: in another place, or under another name, it can't be opened. */
export function seal (value: string, place: string, { current }: SealKeys): string {
  const iv = randomBytes(12)
  const cipher = createCipheriv(algorithm, current, iv).setAAD(Buffer.from(place))
  const sealed = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
  return JSON.stringify({ key: keyId(current), data: Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64') })
}

/** Undefined where neither key has sealed it for this place. */
export function unseal (record: string, place: string, { current, previous }: SealKeys): string | undefined {
  const { key, data } = readRecord(record)
  const used = [current, ...previous === undefined ? [] : [previous]].find(each => keyId(each) === key)
  if (used === undefined) return undefined
  const bytes = Buffer.from(data, 'base64')
  try {
    const decipher = createDecipheriv(algorithm, used, bytes.subarray(0, 12)).setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(12, 28))
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

export function isSealedNow (record: string, { current }: SealKeys): boolean {
  return readRecord(record).key === keyId(current)
}

function readRecord (record: string): { key: string, data: string } {
  const value: unknown = storedJson(record)
  const { key, data } = isRecord(value) ? value : {}
  return { key: typeof key === 'string' ? key : '', data: typeof data === 'string' ? data : '' }
}

/** Tells keys apart, and tells nothing of them. */
function keyId (key: Buffer): string {
  return createHash('sha256').update('toolyard secrets').update(key).digest('hex').slice(0, 16)
}
