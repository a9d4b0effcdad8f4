import { createHash } from 'node:crypto'
import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isRecord } from '@toolyard/contract/terms'
import { isDeeperThan } from '../../document/depth.ts'
import { manifestLimits } from '../../tool/limits.ts'
import type { JsonSchema } from '../../tool/tool.ts'

/** A tool as its server describes it: all that models read of it, and all that calls are checked with. */
export interface McpTool {
  name: string
  title?: string
  description?: string
  inputSchema: JsonSchema
  outputSchema?: JsonSchema
  annotations?: Record<string, unknown>
}

/** The accepted tools of the servers of one manifest, by the servers' names. */
export type McpLock = ReadonlyMap<string, readonly McpTool[]>

/** Tools of one server. */
export const mostTools = 1_000
const fields = ['title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const

/** Where the accepted tools of a manifest are: `tools.lock.json` beside `tools.json`. */
export function lockFile (manifest: string): string {
  return join(dirname(manifest), `${basename(manifest).replace(/\.json$/i, '')}.lock.json`)
}

/** Names what was accepted of a tool. The order of keys doesn't matter, and neither do fields that Toolyard doesn't use. */
export function mcpDigest (tool: McpTool): string {
  return createHash('sha256').update(canonical(mcpTool(tool))).digest('hex')
}

/** The fields of a tool that are accepted, in their order; undefined ones are left out. */
export function mcpTool (tool: McpTool): McpTool {
  const known = fields.flatMap(field => tool[field] === undefined ? [] : [[field, tool[field]]])
  return { name: tool.name, ...Object.fromEntries(known) as Omit<McpTool, 'name'> }
}

/**
 * Reads the accepted tools; none when there is no such file.
 *
 * @throws Error that says what is wrong with the file.
 */
export async function readLock (file: string): Promise<McpLock> {
  const found = await stat(file).catch(() => undefined)
  if (found === undefined) return new Map()
  if (!found.isFile()) throw new Error('is not a file')
  if (found.size > manifestLimits.fileBytes) throw new Error(`is larger than ${manifestLimits.fileBytes} bytes`)
  let lock: unknown
  try {
    lock = JSON.parse(await readFile(file, 'utf8'))
  } catch {
    throw new Error('is not JSON')
  }
  const servers = isRecord(lock) && lock['version'] === 1 && isRecord(lock['servers']) ? lock['servers'] : undefined
  if (servers === undefined || isDeeperThan(manifestLimits.depth, lock)) throw new Error('is not a list of accepted tools of this version')
  return new Map(Object.entries(servers).map(([name, server]) => [name, toolsOf(name, server)]))
}

/** Replaces the file as a whole. */
export async function writeLock (file: string, lock: McpLock): Promise<void> {
  const servers = Object.fromEntries([...lock].sort(([a], [b]) => a < b ? -1 : 1).map(([name, tools]) => [name, { tools: tools.map(mcpTool) }]))
  const part = `${file}.${process.pid}.part`
  await writeFile(part, `${JSON.stringify({ version: 1, servers }, null, 2)}\n`)
  await rename(part, file)
}

/** Whether something that a server, or a file, calls a tool is one. */
export function isMcpTool (value: unknown): value is McpTool {
  if (!isRecord(value)) return false
  const text = (field: unknown): boolean => field === undefined || typeof field === 'string'
  const record = (field: unknown): boolean => field === undefined || isRecord(field)
  return typeof value['name'] === 'string' && value['name'] !== '' && isRecord(value['inputSchema']) && text(value['title']) && text(value['description']) &&
    record(value['outputSchema']) && record(value['annotations']) && !isDeeperThan(manifestLimits.depth, value)
}

function toolsOf (name: string, server: unknown): readonly McpTool[] {
  const tools = isRecord(server) ? server['tools'] : undefined
  if (!Array.isArray(tools) || tools.length > mostTools || !tools.every(isMcpTool)) throw new Error(`has something else than tools for the server ${JSON.stringify(name)}`)
  return tools
}

function canonical (value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (!isRecord(value)) return JSON.stringify(value) ?? 'null'
  return `{${Object.keys(value).sort().filter(key => value[key] !== undefined).map(key => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`
}
