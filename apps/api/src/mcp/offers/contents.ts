import { writeJson } from '@toolyard/contract/terms'
import { isSpecType, ProtocolError, ProtocolErrorCode, type BlobResourceContents, type ReadResourceResult, type TextResourceContents } from '@modelcontextprotocol/server'
import { extname } from 'node:path'
import { blocksOf } from '../call/call-result.ts'

type Contents = TextResourceContents | BlobResourceContents

/** The type of a directory in the Skills extension. */
export const directoryType = 'inode/directory'
/** Bytes of a file that is read as a resource. */
export const mostResourceBytes = 1_048_576
const textType = 'text/plain'
/** Types of files, by the ends of their names; of others the content says whether they are texts. */
const types: Readonly<Record<string, string>> = {
  '.md': 'text/markdown',
  '.txt': textType,
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.xml': 'application/xml',
  '.json': 'application/json',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.py': 'text/x-python',
  '.sh': 'text/x-shellscript',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
  '.pdf': 'application/pdf'
}

/** The type of a file by its name; undefined for a name that says nothing. */
export function typeOfName (name: string): string | undefined {
  return types[extname(name).toLowerCase()]
}

/** @throws ProtocolError that says what to do instead, for a file that is too large. */
export function requireResourceSize (bytes: number, instead: string): void {
  if (bytes <= mostResourceBytes) return
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `The file has ${bytes} bytes, and a resource at most ${mostResourceBytes}. ${instead}`)
}

/** A file as a resource: a text where it is UTF-8, else its bytes. */
export function fileContents (uri: string, content: Buffer): ReadResourceResult {
  const text = textOf(content)
  const mimeType = typeOfName(uri) ?? (text === undefined ? 'application/octet-stream' : textType)
  return { contents: [text === undefined ? { uri, mimeType, blob: content.toString('base64') } : { uri, mimeType, text }] }
}

/**
 * The output of a tool as a resource: contents, or content blocks, where it says so itself; `{"blob": base64}` are bytes; a
 * text is itself, anything else its JSON.
 */
export function outputContents (uri: string, output: unknown, mimeType: string | undefined): ReadResourceResult {
  if (isSpecType.ReadResourceResult(output) && output.contents.length > 0) return { contents: output.contents }
  const blocks = blocksOf(output)?.content.flatMap((block): Contents[] => {
    if (block.type === 'text') return [{ uri, mimeType: mimeType ?? textType, text: block.text }]
    if (block.type === 'image' || block.type === 'audio') return [{ uri, mimeType: block.mimeType, blob: block.data }]
    return block.type === 'resource' ? [block.resource] : []
  })
  if (blocks !== undefined && blocks.length > 0) return { contents: blocks }
  if (typeof output === 'string') return { contents: [{ uri, mimeType: mimeType ?? textType, text: output }] }
  if (typeof output === 'object' && output !== null && 'blob' in output && typeof output.blob === 'string') {
    return { contents: [{ uri, mimeType: mimeType ?? 'application/octet-stream', blob: output.blob }] }
  }
  return { contents: [{ uri, mimeType: mimeType ?? 'application/json', text: writeJson(output) }] }
}

function textOf (content: Buffer): string | undefined {
  if (content.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content)
  } catch {
    return undefined
  }
}
