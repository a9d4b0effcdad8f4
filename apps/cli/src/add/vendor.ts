import { lstat, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { asError } from '@toolyard/contract/terms'
import { changeLockFile, lockName, lockNamePattern, readLockFile, treeDigest, type AuditStatus, type LockEntry, type LockFile, type LockedVersion } from '@toolyard/manifests'
import { isAlive, startTicks } from '@toolyard/runtime'
import { CommandError, misuse } from '../terminal/exit-status.ts'
import { fetchSource, type SignatureCheck } from './fetch-source.ts'
import { readSource, type Source } from './source.ts'
import { repositoryIn } from './unpack.ts'

/** Where what was added lies, from the directory of the lock. */
const vendor = 'tools/vendor'

/** Something that was fetched and isn't in its place yet. */
interface Staged {
  name: string
  source: string
  directory: string
  digest: string
  /** What whoever decides must know beside what the review shows. */
  remarks: readonly string[]
}

function lockPath (directory: string): string {
  return join(directory, lockName)
}

/** @throws CommandError for a lock that can't be read. */
export async function lockOf (directory: string): Promise<LockFile> {
  try {
    return await readLockFile(lockPath(directory))
  } catch (error) {
    throw new CommandError(`${lockPath(directory)} ${asError(error).message}. Take it from your version control; nothing was changed.`, { code: 'LOCK' })
  }
}

/**
 * Fetches a source into a directory of its own beside what was added, has it looked at, and takes it away again unless it was
 * put in its place.
 */
export async function withStaged<T> (
  directory: string, { source: text, name: asked, check }: { source: string, name: string | undefined, check: SignatureCheck },
  use: (staged: Staged) => Promise<T>
): Promise<T> {
  const source = await readSource(text)
  const name = asked ?? nameOf(source)
  if (!lockNamePattern.test(name)) throw misuse(`${JSON.stringify(name)} can't be a name: choose one of letters, digits, '.', '_' and '-' with --name.`)
  const room = join(directory, vendor)
  await mkdir(room, { recursive: true })
  await removeLeft(room)
  const staging = await mkdtemp(join(room, `.part-${process.pid}-${startTicks(process.pid)}-`))
  const files = join(staging, name)
  try {
    await mkdir(files)
    // A copy of the project holds no copies of what it has added, and no keys: tools read what lies below `tools`.
    const remarks = await fetchSource(source, files, check, [room, staging, join(directory, '.env')])
    const repository = await repositoryIn(files)
    if (repository !== undefined) throw new CommandError(`${repository} is a repository of git, whose settings may name programs. Nothing was added.`, { code: 'SOURCE' })
    return await use({ name, source: text, directory: files, digest: await treeDigest(files), remarks })
  } catch (error) {
    if (error instanceof CommandError) error.message = error.message.replaceAll(`${files}/`, '')
    throw error
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/** Takes away what a killed process has fetched. */
async function removeLeft (room: string): Promise<void> {
  for (const name of await readdir(room)) {
    const [, pid = 0, start = 0] = /^\.part-(\d+)-(\d+)-/.exec(name) ?? []
    if (name.startsWith('.part-') && !isAlive(Number(pid), Number(start))) await rm(join(room, name), { recursive: true, force: true })
  }
}

/**
 * Puts what was fetched in its place, and then into the lock. The version before it stays, for a rollback.
 *
 * @param before what the lock had when the new version was compared with it
 * @throws CommandError where it has another one now.
 */
export async function install (
  directory: string, staged: Staged, status: AuditStatus, before: LockEntry | undefined
): Promise<LockedVersion> {
  const { name, source, directory: files, digest } = staged
  const path = `${vendor}/${name}@${digest.slice('sha256:'.length, 'sha256:'.length + 12)}`
  const place = join(directory, path)
  const previous = before === undefined ? [] : [versionOf(before), ...before.previous].filter(each => each.digest !== digest)
  await changeLock(directory, async lock => {
    if (lock.entries.get(name)?.digest !== before?.digest) throw new CommandError(`Another command has changed ${name} meanwhile. Nothing was changed.`, { code: 'LOCK' })
    if (await lstat(place).then(() => true, () => false)) {
      if (await treeDigest(place).catch(() => '') !== digest) {
        await rm(place, { recursive: true })
        await rename(files, place)
      }
    } else await rename(files, place)
    return withEntry(withAccepted(lock, before?.path, path), name, { source, path, digest, status, previous })
  })
  return { source, path, digest }
}

/** @throws CommandError where there is none that could be gone back to. */
export async function rollBack (directory: string, name: string): Promise<LockedVersion> {
  const changed = await changeLock(directory, async lock => {
    const { previous: [version, ...previous], status } = entryOf(lock, name)
    if (version === undefined) throw new CommandError(`There is no version of ${name} before this one.`, { code: 'NOT_FOUND' })
    const found = await treeDigest(join(directory, version.path)).catch(error => asError(error).message)
    if (found !== version.digest) throw new CommandError(`${version.path} is not what it was (${found}). Nothing was changed.`, { code: 'LOCK' })
    return withEntry(lock, name, { ...version, status, previous })
  })
  return versionOf(entryOf(changed, name))
}

/** Takes something out of the lock, and then its files away, of all versions: those that a rollback left, too. */
export async function removeEntry (directory: string, name: string): Promise<void> {
  await changeLock(directory, lock => {
    entryOf(lock, name)
    return {
      entries: new Map([...lock.entries].filter(([other]) => other !== name)),
      servers: new Map([...lock.servers].filter(([manifest]) => !manifest.startsWith(`${vendor}/${name}@`)))
    }
  })
  const room = join(directory, vendor)
  for (const version of await readdir(room).catch(() => [])) {
    if (version.startsWith(`${name}@`)) await rm(join(room, version), { recursive: true, force: true })
  }
}

export function entryOf ({ entries }: LockFile, name: string): LockEntry {
  const entry = entries.get(name)
  if (entry === undefined) throw new CommandError(`${lockName} has no ${name}.${entries.size === 0 ? '' : ` It has ${[...entries.keys()].join(', ')}.`}`, { code: 'NOT_FOUND' })
  return entry
}

/** Files that differ between two versions: what came, what changed, what went. */
export async function fileChanges (before: string, after: string): Promise<string[]> {
  const [old, now] = await Promise.all([before, after].map(digestsOf))
  if (old === undefined || now === undefined) return []
  return [
    ...[...now].flatMap(([path, digest]) => old.get(path) === digest ? [] : [`  ${old.has(path) ? '!' : '+'} ${path}`]),
    ...[...old.keys()].filter(path => !now.has(path)).map(path => `  - ${path}`)
  ]
}

async function digestsOf (directory: string): Promise<Map<string, string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  const paths = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name)).sort()
  const digests = new Map<string, string>()
  for (const path of paths) digests.set(path.slice(directory.length + 1), await treeDigest(path))
  return digests
}

/** @throws CommandError for a lock that can't be read. */
async function changeLock (directory: string, change: (lock: LockFile) => LockFile | Promise<LockFile>): Promise<LockFile> {
  await lockOf(directory)
  return await changeLockFile(lockPath(directory), change)
}

function withEntry (lock: LockFile, name: string, entry: LockEntry): LockFile {
  return { ...lock, entries: new Map([...lock.entries, [name, entry]]) }
}

/** What was accepted of the servers of one version holds for the next one too: workers call what is described in the same way. */
function withAccepted (lock: LockFile, before: string | undefined, path: string): LockFile {
  if (before === undefined || before === path) return lock
  const own = [...lock.servers].filter(([manifest]) => isOf(before, manifest))
  return { ...lock, servers: new Map([...lock.servers, ...own.map(([manifest, servers]) => [`${path}${manifest.slice(before.length)}`, servers] as const)]) }
}

function isOf (path: string, manifest: string): boolean {
  return manifest === path || manifest.startsWith(`${path}/`)
}

function versionOf ({ source, path, digest }: LockEntry): LockedVersion {
  return { source, path, digest }
}

/** The last part of where it came from. */
function nameOf (source: Source): string {
  const path = 'path' in source ? source.path : new URL(source.url).pathname
  return basename(path).replace(/\.(?:git|json|ya?ml|tar|tgz|tar\.gz)$/i, '')
}
