import { rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isRecord, type McpTool } from '@toolyard/contract/terms'
import { isDeeperThan } from '../../document/depth.ts'
import { acceptedOf, changeLockFile, lockName, readJson, readLockFile } from '../../layer/lock/lock-file.ts'
import { manifestLimits } from '../../tool/limits.ts'

/** The accepted tools of the servers of one manifest, by the servers' names. */
export type McpLock = ReadonlyMap<string, readonly McpTool[]>

/** Where the accepted tools of a manifest are: in the lock beside it. */
export function lockFile (manifest: string): string {
  return join(dirname(manifest), lockName)
}

/** Where an older form had them: `tools.lock.json` beside `tools.json`. It is read, and moved when something is accepted. */
export function olderLockFile (manifest: string): string {
  return join(dirname(manifest), `${basename(manifest).replace(/\.json$/i, '')}.lock.json`)
}

/** Reads the accepted tools of a manifest; none where there is no lock. @throws Error that says what is wrong with the file. */
export async function readLock (manifest: string): Promise<McpLock> {
  const { servers } = await readLockFile(lockFile(manifest))
  return servers.get(basename(manifest)) ?? await readOlder(olderLockFile(manifest))
}

/** Changes the accepted tools of a manifest; several commands do so one after the other. */
export async function changeLock (manifest: string, change: (now: McpLock) => McpLock): Promise<void> {
  const [file, older, name] = [lockFile(manifest), olderLockFile(manifest), basename(manifest)]
  await changeLockFile(file, async ({ entries, servers }) => {
    const now = servers.get(name) ?? await readOlder(older).catch(() => new Map())
    return { entries, servers: new Map([...servers, [name, change(now)]]) }
  })
  if (older !== file) await rm(older, { force: true })
}

async function readOlder (file: string): Promise<McpLock> {
  const lock = await readJson(file)
  if (lock === undefined) return new Map()
  const servers = isRecord(lock) && lock['version'] === 1 && isRecord(lock['servers']) ? lock['servers'] : undefined
  if (servers === undefined || isDeeperThan(manifestLimits.depth, lock)) throw new Error('is not a list of accepted tools of this version')
  return new Map(Object.entries(servers).map(([name, server]) => [name, acceptedOf(name, server)]))
}
