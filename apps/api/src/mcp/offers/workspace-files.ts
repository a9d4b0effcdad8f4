import { ProtocolError, ProtocolErrorCode, type ReadResourceResult, type Resource } from '@modelcontextprotocol/server'
import { isRecord } from '@toolyard/contract/terms'
import type { Publication } from '../../catalog/tool-catalog.ts'
import { workspaceRoot, workspaceUri } from '../call/call-result.ts'
import { typeOfName } from '@toolyard/workspace'
import { directoryType, fileContents, mostResourceBytes, requireResourceSize } from './contents.ts'
import type { OfferedTool } from './offered-tool.ts'

/*
 * The files of the workspace are read by the built-in tools: the workspace is on the machines of the workers, and what
 * their box refuses is refused here as well.
 */

const reader = 'data_file_read'
const lister = 'workspace_list'
const pageEntries = 200

export function mayRead ({ names }: Publication): boolean {
  return names.includes(reader) && names.includes(lister)
}

/** The path of a file or directory of the workspace; undefined for a URI that can't be one. */
export function workspacePath (uri: string): string | undefined {
  if (!uri.startsWith(workspaceRoot)) return undefined
  try {
    return uri.slice(workspaceRoot.length).split('/').map(decodeURIComponent).join('/')
  } catch {
    return undefined
  }
}

export async function listWorkspace (
  path: string, cursor: string | undefined, tool: OfferedTool
): Promise<{ resources: Resource[], nextCursor?: string }> {
  const listing = await ask(tool, lister, { path: path === '' ? '.' : path, max_results: pageEntries, ...cursor !== undefined && { cursor } })
  const { entries = [], next_cursor: nextCursor } = isRecord(listing) ? listing : {}
  const resources = (Array.isArray(entries) ? entries : []).flatMap((entry: unknown) => isRecord(entry) ? resourceOf(entry) : [])
  return { resources, ...typeof nextCursor === 'string' && { nextCursor } }
}

/** A file, or what is in a directory: a URI a line. */
export async function readWorkspace (uri: string, path: string, tool: OfferedTool): Promise<ReadResourceResult> {
  if (path === '' || path.endsWith('/')) {
    const { resources } = await listWorkspace(path, undefined, tool)
    return { contents: [{ uri, mimeType: directoryType, text: resources.map(resource => `${resource.uri}\n`).join('') }] }
  }
  const file = await ask(tool, reader, { path, encoding: 'base64', max_bytes: mostResourceBytes })
  const { content_base64: content, truncated, total_bytes: bytes } = isRecord(file) ? file : {}
  if (truncated === true) requireResourceSize(Number(bytes), `The tool ${reader} reads it in parts`)
  return await tool.inTurn(() => fileContents(uri, Buffer.from(String(content), 'base64')))
}

/** A refusal of these tools is a fault of the URI. */
async function ask (tool: OfferedTool, name: string, args: Record<string, unknown>): Promise<unknown> {
  try {
    return await tool.output(name, args)
  } catch (error) {
    if (!(error instanceof ProtocolError) || !isRecord(error.data) || error.data['code'] !== 'TOOL_FAILED') throw error
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message, error.data)
  }
}

function resourceOf ({ path, name, type, size }: Record<string, unknown>): Resource[] {
  if (typeof path !== 'string' || typeof name !== 'string' || (type !== 'file' && type !== 'directory')) return []
  const uri = workspaceUri(path)
  if (type === 'directory') return [{ uri: `${uri}/`, name, mimeType: directoryType }]
  const mimeType = typeOfName(name)
  return [{ uri, name, ...mimeType !== undefined && { mimeType }, ...typeof size === 'number' && { size } }]
}
