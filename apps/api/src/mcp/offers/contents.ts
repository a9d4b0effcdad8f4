import { isUtf8 } from 'node:buffer'
import { writeJson } from '@toolyard/contract/terms'
import { isSpecType, ProtocolError, ProtocolErrorCode, type BlobResourceContents, type ReadResourceResult, type TextResourceContents } from '@modelcontextprotocol/server'
import { typeOfName } from '@toolyard/workspace'
import { blocksOf } from '../call/call-result.ts'

type Contents = TextResourceContents | BlobResourceContents

/** The type of a directory in the Skills extension. */
export const directoryType = 'inode/directory'
/** Bytes of a file that is read as a resource. */
export const mostResourceBytes = 1_048_576
const textType = 'text/plain'

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
  return content.includes(0) || !isUtf8(content) ? undefined : content.toString()
}
