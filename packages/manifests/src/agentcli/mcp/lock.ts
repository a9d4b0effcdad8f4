import { readFile, rename, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isMcpTool, isRecord, mcpTool, mostMcpTools, type McpTool } from '@toolyard/contract/terms'
import { isDeeperThan } from '../../document/depth.ts'
import { manifestLimits } from '../../tool/limits.ts'

/** The accepted tools of the servers of one manifest, by the servers' names. */
export type McpLock = ReadonlyMap<string, readonly McpTool[]>

/** Where the accepted tools of a manifest are: `tools.lock.json` beside `tools.json`. */
export function lockFile (manifest: string): string {
  return join(dirname(manifest), `${basename(manifest).replace(/\.json$/i, '')}.lock.json`)
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
  const entries = Object.entries(servers)
  return new Map(entries.map(([name, server]) => [name, toolsOf(name, server)]))
}

/** Replaces the file as a whole. */
export async function writeLock (file: string, lock: McpLock): Promise<void> {
  const servers = Object.fromEntries(
    [...lock].sort(([a], [b]) => a < b ? -1 : 1).map(([name, tools]) => [name, { tools: tools.map(mcpTool) }])
  )
  const part = `${file}.${process.pid}.part`
  await writeFile(part, `${JSON.stringify({ version: 1, servers }, null, 2)}\n`)
  await rename(part, file)
}

function toolsOf (name: string, server: unknown): readonly McpTool[] {
  const tools = isRecord(server) ? server['tools'] : undefined
  if (!Array.isArray(tools) || tools.length > mostMcpTools || !tools.every(isMcpTool)) throw new Error(`has something else than tools for the server ${JSON.stringify(name)}`)
  return tools
}
