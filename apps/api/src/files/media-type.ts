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
/** What no browser runs anything of. */
const harmless = /^(?:image\/(?:avif|bmp|gif|jpeg|png|webp)|text\/plain|audio\/|video\/)/

/** The media type of a file, by the end of its name. */
export function mediaTypeOf (name: string): string {
  return types.get(extname(name).slice(1).toLowerCase()) ?? 'application/octet-stream'
}

/** What makes a browser store a file under its name, or show it where it is harmless. */
export function dispositionOf (name: string, type: string): string {
  const plain = name.replaceAll(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(name).replaceAll(/['()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
  return `${harmless.test(type) ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${encoded}`
}
