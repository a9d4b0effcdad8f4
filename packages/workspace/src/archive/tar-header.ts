import { isUtf8 } from 'node:buffer'
import { HttpError } from '@toolyard/contract/terms'

/*
 * The headers of tar archives: those of POSIX, with the extended ones (pax) for long names and sizes, and GNU's for long names.
 * docs/decisions/0082-archives.md says why this is no library.
 */

export const blockBytes = 512
/** Bytes of the headers that describe one entry further: a path of 64 names may have 16,383. */
const maxExtendedBytes = 65_536

export interface TarHeader {
  /** As bytes: a name need not be text. */
  name: Buffer
  size: number
  mode: number
  /** The letter of its type. */
  type: string
}

/** About the next entry, beside its own header. */
export interface Extension {
  name?: Buffer
  size?: number
}

const unsupported: Readonly<Record<string, string>> = {
  1: 'a hard link', 2: 'a symbolic link', 3: 'a device', 4: 'a device', 6: 'a FIFO', S: 'a sparse file'
}

/** An archive may have nothing but files and directories. */
export function kindOf ({ type, name }: Pick<TarHeader, 'type' | 'name'>): 'file' | 'directory' {
  if (type === '5' || (isFileType(type) && name.at(-1) === 0x2f)) return 'directory'
  if (isFileType(type)) return 'file'
  throw new HttpError('VALIDATION_ERROR', `is ${unsupported[type] ?? 'of an unknown type'}: an archive may have files and directories only`)
}

/** Whether a header describes the next one, or all that follow. */
export function isExtension (type: string): boolean {
  return ['x', 'g', 'L', 'K'].includes(type)
}

/** @throws HttpError `VALIDATION_ERROR` */
export function readHeader (block: Buffer): TarHeader {
  if (readNumber(block.subarray(148, 156)) !== checksumOf(block)) throw malformed('a header has a wrong checksum; a compressed archive must be unpacked first')
  const prefix = block.toString('latin1', 257, 263) === 'ustar\0' ? upToNul(block.subarray(345, 500)) : Buffer.alloc(0)
  const name = upToNul(block.subarray(0, 100))
  const typeByte = block[156] ?? 0
  return {
    name: prefix.length === 0 ? name : Buffer.concat([prefix, Buffer.from('/'), name]),
    size: readNumber(block.subarray(124, 136)),
    mode: readNumber(block.subarray(100, 108)),
    type: typeByte === 0 ? '0' : String.fromCharCode(typeByte)
  }
}

/** Reads the content of a header that describes further. @throws HttpError `VALIDATION_ERROR` */
export function readExtension (type: string, content: Buffer): Extension {
  if (type === 'L') return { name: upToNul(content) }
  if (type === 'K') return {}
  const records = readRecords(content)
  if ([...records.keys()].some(key => key.startsWith('GNU.sparse.'))) throw malformed('it has a sparse file')
  const [path, size] = [records.get('path'), records.get('size')]
  if (type === 'g' && (path ?? size) !== undefined) throw malformed('a header gives all entries one name or size')
  return { ...path !== undefined && { name: path }, ...size !== undefined && { size: readDecimal(size.toString('latin1')) } }
}

/** @throws HttpError `VALIDATION_ERROR` */
export function checkExtendedSize (size: number): void {
  if (size > maxExtendedBytes) throw malformed(`a header has ${size} bytes, at most ${maxExtendedBytes} are read`)
}

/** The header of an entry, with one before it that has what doesn't fit. */
export function writeHeader (entry: { name: Buffer, size: number, mode: number, mtime: Date, type: '0' | '5' }): Buffer {
  // Without an extended header nobody says how a name is to be read: what is no text stays the same bytes.
  const isText = isUtf8(entry.name)
  const fits = isText ? /^[\x20-\x7e]{1,100}$/.test(entry.name.toString()) : entry.name.length <= 100
  const records = [...fits ? [] : nameRecords(entry.name, isText), ...entry.size < 8 ** 11 ? [] : [record('size', Buffer.from(String(entry.size)))]]
  const block = headerBlock({ ...entry, name: fits ? entry.name.toString('latin1') : 'entry', size: entry.size < 8 ** 11 ? entry.size : 0 })
  if (records.length === 0) return block
  const extended = Buffer.concat(records)
  return Buffer.concat([headerBlock({ ...entry, name: 'header', size: extended.length, type: 'x' }), extended, paddingOf(extended.length), block])
}

/** Fills the last block of so many bytes. */
export function paddingOf (bytes: number): Buffer {
  return Buffer.alloc((blockBytes - bytes % blockBytes) % blockBytes)
}

export function malformed (what: string): HttpError {
  return new HttpError('VALIDATION_ERROR', `The body is not a whole tar archive: ${what}`)
}

function isFileType (type: string): boolean {
  return type === '0' || type === '7'
}

function headerBlock ({ name, size, mode, mtime, type }: { name: string, size: number, mode: number, mtime: Date, type: string }): Buffer {
  const block = Buffer.alloc(blockBytes)
  const octal = (value: number, digits: number): string => Math.max(0, Math.floor(value)).toString(8).padStart(digits, '0')
  block.write(name, 0, 'latin1')
  block.write(octal(mode & 0o777, 7), 100)
  block.write(octal(0, 7), 108)
  block.write(octal(0, 7), 116)
  block.write(octal(size, 11), 124)
  block.write(octal(Math.min(mtime.getTime() / 1_000, 8 ** 11 - 1), 11), 136)
  block.write(`${type}`, 156)
  block.write('ustar\x0000', 257, 'latin1')
  block.write(`${octal(checksumOf(block), 6)}\0 `, 148, 'latin1')
  return block
}

/** The sum of all bytes, with spaces in place of the sum itself. */
function checksumOf (block: Buffer): number {
  let sum = 8 * 0x20
  for (let at = 0; at < blockBytes; at++) sum += at >= 148 && at < 156 ? 0 : block[at] ?? 0
  return sum
}

/** A number in octal digits, or where these don't suffice in bytes. */
function readNumber (field: Buffer): number {
  if (field[0] === 0x80) return safe(Number(BigInt(`0x${field.subarray(1).toString('hex')}`)))
  const [, digits] = /^ *([0-7]*)[ \0]*$/.exec(field.toString('latin1')) ?? []
  if (digits === undefined) throw malformed('a header has a number that is none')
  return safe(digits === '' ? 0 : Number.parseInt(digits, 8))
}

function readDecimal (text: string): number {
  if (!/^\d{1,16}$/.test(text)) throw malformed('a header has a number that is none')
  return safe(Number(text))
}

function safe (value: number): number {
  if (!Number.isSafeInteger(value)) throw malformed('a header has a number that is too large')
  return value
}

/** Records of the form `LENGTH KEY=VALUE\n`, where the length counts all of it. */
function readRecords (content: Buffer): Map<string, Buffer> {
  const records = new Map<string, Buffer>()
  for (let at = 0; at < content.length;) {
    const [, digits = ''] = /^(\d{1,5}) /.exec(content.toString('latin1', at, at + 6)) ?? []
    const end = at + Number(digits)
    const middle = content.indexOf('=', at)
    if (digits === '' || end > content.length || content[end - 1] !== 0x0a || middle < at + digits.length + 1 || middle >= end) throw malformed('an extended header is broken')
    records.set(content.toString('latin1', at + digits.length + 1, middle), content.subarray(middle + 1, end - 1))
    at = end
  }
  return records
}

function nameRecords (name: Buffer, isText: boolean): Buffer[] {
  return [...isText ? [] : [record('hdrcharset', Buffer.from('BINARY'))], record('path', name)]
}

function record (key: string, value: Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), value, Buffer.from('\n')])
  let length = rest.length
  while (length !== rest.length + String(length).length) length = rest.length + String(length).length
  return Buffer.concat([Buffer.from(String(length)), rest])
}

function upToNul (bytes: Buffer): Buffer {
  const end = bytes.indexOf(0)
  return end === -1 ? bytes : bytes.subarray(0, end)
}
