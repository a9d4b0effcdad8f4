import { rm } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { isRecord, type McpTool } from '@toolyard/contract/terms'
import { isDeeperThan } from '../../document/depth.ts'
import { acceptedOf, changeLockFile, lockName, readJson, readLockFile, type LockFile, type ReadLock } from '../../layer/lock/lock-file.ts'
import { manifestLimits } from '../../tool/limits.ts'

/** The accepted tools of the servers of one manifest, by the servers' names. */
export type McpLock = ReadonlyMap<string, readonly McpTool[]>

/** Where the accepted tools of a manifest are. */
interface LockPlace {
  file: string
  /** Of the manifest, in that lock. */
  name: string
  /** Where an older form had them: `tools.lock.json` beside `tools.json`. It is read, and moved when something is accepted. */
  older?: string
  /** What the file has; undefined where it can't be read. */
  lock: LockFile | undefined
}

/**
 * The lock that has the manifest among what was added: no file that came with it says what was accepted. For all others the lock
 * beside the manifest. One that can't be read is taken for the one that has it.
 */
async function lockPlaceOf (manifest: string, readFile: ReadLock = readLockFile): Promise<LockPlace> {
  const path = resolve(manifest)
  let lock: LockFile | undefined
  // From the top: what was added may hold locks too.
  for (let at = path.indexOf(sep); at >= 0; at = path.indexOf(sep, at + 1)) {
    const directory = path.slice(0, at + 1)
    const file = join(directory, lockName)
    const name = relative(directory, path).replaceAll(sep, '/')
    lock = await readFile(file).catch(() => undefined)
    if (lock === undefined || hasAdded(lock, name)) return { file, name, lock }
  }
  const older = join(dirname(path), `${basename(path).replace(/\.json$/i, '')}.lock.json`)
  return { file: join(dirname(path), lockName), name: basename(path), older, lock }
}

/** Whether a path, from the directory of the lock, is of something that was added. */
function hasAdded ({ entries }: LockFile, path: string): boolean {
  const versions = [...entries.values()].flatMap(entry => [entry, ...entry.previous])
  return versions.some(({ path: added }) => path === added || path.startsWith(`${added}/`))
}

/** Reads the accepted tools of a manifest; none where there is no lock. @throws Error that says what is wrong with the file. */
export async function readLock (manifest: string): Promise<McpLock> {
  return await openLock(manifest).accepted()
}

/** A lock that is read once for all servers of a manifest, where somebody asks: it has megabytes where they have thousands of tools. */
export interface OpenLock {
  place: () => Promise<LockPlace>
  /** @throws Error that says what is wrong with the file. */
  accepted: () => Promise<McpLock>
}

export function openLock (manifest: string, readFile?: ReadLock): OpenLock {
  const place = once(() => lockPlaceOf(manifest, readFile))
  const accepted = once(async () => {
    const { file, name, older, lock } = await place()
    const { servers } = lock ?? await readLockFile(file)
    return servers.get(name) ?? await readOlder(older)
  })
  return { place, accepted }
}

function once<Made> (make: () => Promise<Made>): () => Promise<Made> {
  let made: Promise<Made> | undefined
  return async () => await (made ??= make())
}

/** Changes the accepted tools of a manifest; several commands do so one after the other. */
export async function changeLock (manifest: string, change: (now: McpLock) => McpLock): Promise<void> {
  const { file, name, older } = await lockPlaceOf(manifest)
  await changeLockFile(file, async ({ entries, servers }) => {
    const now = servers.get(name) ?? await readOlder(older).catch(() => new Map())
    return { entries, servers: new Map([...servers, [name, change(now)]]) }
  })
  if (older !== undefined && older !== file) await rm(older, { force: true })
}

async function readOlder (file: string | undefined): Promise<McpLock> {
  const lock = file === undefined ? undefined : await readJson(file)
  if (lock === undefined) return new Map()
  const servers = isRecord(lock) && lock['version'] === 1 && isRecord(lock['servers']) ? lock['servers'] : undefined
  if (servers === undefined || isDeeperThan(manifestLimits.depth, lock)) throw new Error('is not a list of accepted tools of this version')
  return new Map(Object.entries(servers).map(([name, server]) => [name, acceptedOf(name, server)]))
}
