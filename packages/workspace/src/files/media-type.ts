import { extname } from 'node:path'

/** Ends of names by their media type. */
const ends: Readonly<Record<string, string>> = {
  'application/epub+zip': 'epub',
  'application/gzip': 'gz',
  'application/json': 'json',
  'application/jsonl': 'jsonl',
  'application/msword': 'doc',
  'application/pdf': 'pdf',
  'application/vnd.apache.parquet': 'parquet',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/wasm': 'wasm',
  'application/x-tar': 'tar',
  'application/xml': 'xml',
  'application/yaml': 'yaml yml',
  'application/zip': 'zip',
  'application/zstd': 'zst',
  'audio/aac': 'aac',
  'audio/mpeg': 'mp3',
  'audio/ogg': 'oga ogg',
  'audio/wav': 'wav',
  'audio/webm': 'weba',
  'image/avif': 'avif',
  'image/bmp': 'bmp',
  'image/gif': 'gif',
  'image/jpeg': 'jpeg jpg',
  'image/png': 'png',
  'image/svg+xml': 'svg',
  'image/tiff': 'tif tiff',
  'image/vnd.microsoft.icon': 'ico',
  'image/webp': 'webp',
  'text/css; charset=utf-8': 'css',
  'text/csv; charset=utf-8': 'csv',
  'text/html; charset=utf-8': 'html htm',
  'text/javascript; charset=utf-8': 'js mjs',
  'text/markdown; charset=utf-8': 'md',
  'text/plain; charset=utf-8': 'log sh toml ts txt',
  'text/tab-separated-values; charset=utf-8': 'tsv',
  'text/x-python; charset=utf-8': 'py',
  'video/mp4': 'mp4',
  'video/webm': 'webm'
}
const types = new Map(Object.entries(ends).flatMap(([type, all]) => all.split(' ').map(end => [end, type])))
const unknownType = 'application/octet-stream'

export function mediaTypeOf (name: string): string {
  return types.get(extname(name).slice(1).toLowerCase()) ?? unknownType
}

/** Without parameters; undefined for a name that tells no type. */
export function typeOfName (name: string): string | undefined {
  return types.get(extname(name).slice(1).toLowerCase())?.split(';')[0]
}

/** Bytes in hexadecimal at the beginning of a file of a type, at an offset; a dot is any digit. */
const beginnings: ReadonlyArray<readonly [type: string, pattern: RegExp]> = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^47494638(?:37|39)61/],
  ['image/webp', /^52494646.{8}57454250/],
  ['image/bmp', /^424d.{8}00000000/],
  ['image/tiff', /^(?:49492a00|4d4d002a)/],
  ['image/vnd.microsoft.icon', /^00000100(?!0000)/],
  ['image/avif', /^.{8}6674797061766966/],
  ['application/pdf', /^255044462d/],
  ['application/gzip', /^1f8b08/],
  ['application/zip', /^504b(?:0304|0506)/],
  ['application/zstd', /^28b52ffd/],
  ['application/wasm', /^0061736d/],
  ['application/vnd.apache.parquet', /^50415231/],
  ['application/vnd.sqlite3', /^53514c69746520666f726d6174203300/],
  ['audio/wav', /^52494646.{8}57415645/],
  ['audio/ogg', /^4f676753/],
  ['audio/mpeg', /^(?:494433|fffb|fff3|fff2)/],
  ['video/mp4', /^.{8}66747970(?:69736f|6d7034|4d3456|617663)/],
  ['video/webm', /^1a45dfa3/]
]
/** Bytes of a file that tell its type. */
export const headBytes = 32
/** They hold other formats, which the name tells apart. */
const containers: ReadonlySet<string> = new Set(['application/zip', 'application/gzip'])
const pixels = /^image\/(?!svg)/

/** The type of what begins with these bytes; undefined for what isn't known. */
export function typeOfBytes (head: Uint8Array): string | undefined {
  const hex = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, headBytes)).toString('hex')
  return beginnings.find(([, pattern]) => pattern.test(hex))?.[0]
}

/** The type of a file, without parameters: what it begins with counts more than its name, which can't make an image of it. */
export function typeOfFile (name: string, head: Uint8Array): string {
  const named = typeOfName(name) ?? unknownType
  const found = typeOfBytes(head)
  if (found === undefined) return head.length > 0 && pixels.test(named) ? unknownType : named
  return containers.has(found) && named !== unknownType && !pixels.test(named) ? named : found
}
