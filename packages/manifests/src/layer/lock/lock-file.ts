import { open, rename, rm, type FileHandle } from 'node:fs/promises'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { errorCode, isMcpTool, isRecord, mcpTool, mostMcpTools, type McpTool } from '@toolyard/contract/terms'
import { isDeeperThan } from '../../document/depth.ts'
import { readFileBytes } from '../../document/manifest-file.ts'
import type { AuditStatus } from '../../tool/audit-status.ts'
import { manifestLimits } from '../../tool/limits.ts'

/** The name of the file that says what was looked at and accepted: sources, and tools of MCP servers. */
export const lockName = 'toolyard.lock.json'
/** How much an operator trusts what was added. */
const auditStatuses: readonly AuditStatus[] = ['experimental', 'trusted']

export interface LockedVersion {
  /** Where it came from, as `toolyard update` asks again. */
  source: string
  /** From the directory of the lock; its parts joined by `/`. */
  path: string
  /** Of all its files: `sha256:` and lower case hex. */
  digest: string
}

export interface LockEntry extends LockedVersion {
  status: AuditStatus
  /** Those before it, the newest first. */
  previous: readonly LockedVersion[]
}

export interface LockFile {
  entries: ReadonlyMap<string, LockEntry>
  /** Accepted tools by the name of the manifest, and the server. */
  servers: ReadonlyMap<string, ReadonlyMap<string, readonly McpTool[]>>
}

/** Also a part of the name of its directory. */
export const lockNamePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const digestPattern = /^sha256:[0-9a-f]{64}$/

/** Reads a lock; an empty one when there is none. @throws Error that says what is wrong with the file. */
export async function readLockFile (file: string): Promise<LockFile> {
  const lock = await readJson(file)
  if (lock === undefined) return { entries: new Map(), servers: new Map() }
  if (!isRecord(lock) || lock['version'] !== 2 || isDeeperThan(manifestLimits.depth, lock)) throw new Error('is no lock of this version')
  const { entries = {}, servers = {} } = lock
  if (!isRecord(entries) || !isRecord(servers)) throw new Error('has no lists of entries and servers')
  return {
    entries: new Map(Object.entries(entries).map(([name, entry]) => [name, entryOf(name, entry)])),
    servers: new Map(Object.entries(servers).map(([manifest, of]) => {
      if (!isRecord(of)) throw new Error(`has something else than servers for ${JSON.stringify(manifest)}`)
      return [manifest, new Map(Object.entries(of).map(([name, server]) => [name, acceptedOf(name, server)]))]
    }))
  }
}

export type ReadLock = typeof readLockFile

/** Reads each lock once, for all manifests of one load: it may have megabytes, and be that of forty of them. */
export function lockReader (): ReadLock {
  const read = new Map<string, Promise<LockFile>>()
  return async file => {
    const lock = read.get(file) ?? readLockFile(file)
    read.set(file, lock)
    return await lock
  }
}

/**
 * Replaces the file as a whole, one process after the other; one that holds nothing goes. A signature of what was there before goes
 * with it.
 *
 * @returns what the file has now
 * @throws Error where the file can't be read, or another process doesn't end its change.
 */
export async function changeLockFile (file: string, change: (lock: LockFile) => LockFile | Promise<LockFile>): Promise<LockFile> {
  const part = `${file}.part`
  const handle = await makeAlone(part)
  let isThere = true
  try {
    const changed = await change(await readLockFile(file))
    const { entries, servers } = changed
    await rm(`${file}.minisig`, { force: true })
    if (entries.size + servers.size === 0) {
      await rm(file, { force: true })
      return changed
    }
    await handle.writeFile(textOf(entries, servers))
    await rename(part, file)
    isThere = false
    return changed
  } finally {
    await handle.close()
    if (isThere) await rm(part, { force: true })
  }
}

const mostWaitMs = 10_000

/** Who has made the file is the only one that changes the lock. */
async function makeAlone (part: string): Promise<FileHandle> {
  for (const begun = performance.now(); ;) {
    try {
      return await open(part, 'wx')
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
      if (performance.now() - begun > mostWaitMs) throw new Error(`is being changed by another command: remove ${part} if none runs`)
      await setTimeout(20)
    }
  }
}

function textOf (entries: LockFile['entries'], servers: LockFile['servers']): string {
  const sorted = <T> (map: ReadonlyMap<string, T>): Array<[string, T]> => [...map].sort(([a], [b]) => a < b ? -1 : 1)
  const text = JSON.stringify({
    version: 2,
    entries: Object.fromEntries(sorted(entries)),
    servers: Object.fromEntries(sorted(servers).map(([manifest, of]) => [
      manifest, Object.fromEntries(sorted(of).map(([name, tools]) => [name, { tools: tools.map(mcpTool) }]))
    ]))
  }, null, 2)
  return `${text}\n`
}

/** @throws Error for what is no JSON, no file, or too large. */
export async function readJson (file: string): Promise<unknown> {
  const bytes = await readFileBytes(file).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error
  })
  if (bytes === undefined) return undefined
  try {
    const value: unknown = JSON.parse(bytes.toString())
    // It may be large, and who reads it looks through all of it.
    await setImmediate()
    return value
  } catch {
    throw new Error('is not JSON')
  }
}

/** @throws Error */
export function acceptedOf (name: string, server: unknown): readonly McpTool[] {
  const tools = isRecord(server) ? server['tools'] : undefined
  if (!Array.isArray(tools) || tools.length > mostMcpTools || !tools.every(isMcpTool)) throw new Error(`has something else than tools for the server ${JSON.stringify(name)}`)
  return tools
}

function entryOf (name: string, entry: unknown): LockEntry {
  const wrong = (what: string): Error => new Error(`has an entry ${JSON.stringify(name)} ${what}`)
  if (!lockNamePattern.test(name)) throw wrong('with a name that none may have')
  if (!isRecord(entry)) throw wrong('that is none')
  const { status, previous = [] } = entry
  const known = auditStatuses.find(each => each === status)
  if (known === undefined) throw wrong('without a status')
  if (!Array.isArray(previous) || previous.length > 1_000) throw wrong('with a wrong list of previous versions')
  const version = (written: unknown): LockedVersion => {
    const { source, path, digest } = isRecord(written) ? written : {}
    if (typeof source !== 'string' || typeof path !== 'string' || typeof digest !== 'string' || !digestPattern.test(digest)) throw wrong('without source, path and digest')
    if (path.startsWith('/') || path.includes('\0') || path.split('/').some(part => part === '..' || part === '')) throw wrong('whose path leads elsewhere')
    return { source, path, digest }
  }
  return { ...version(entry), status: known, previous: previous.map(version) }
}
