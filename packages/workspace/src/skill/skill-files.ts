import { createHash } from 'node:crypto'
import { constants, type BigIntStats } from 'node:fs'
import { open, opendir, realpath, type FileHandle } from 'node:fs/promises'
import { join, sep } from 'node:path'

/** Bounds of the Skills extension: clients need not take more. Directories that hold nothing take time as well. */
const most = { files: 512, directories: 512, bytes: 16 * 1024 * 1024, levels: 16 }
/** Changes of a file that are nearer to each other may have the same time, in milliseconds: until then it is read each time. */
const settledMs = 2_000

/** A file of a skill: its path from the skill's directory, parts joined by `/`. */
interface SkillFile {
  path: string
  size: number
}

export interface DigestedFile extends SkillFile {
  /** SHA-256, in lower case hex. */
  digest: string
  /** Another one when the file was changed. Absent: it was changed so lately that it may change once more unseen. */
  state: string | undefined
}

interface SkillChild {
  name: string
  isDirectory: boolean
}

/**
 * All files of a skill, by path. Hidden ones and links are left out.
 *
 * @throws an Error that says why the skill can't be published: it is larger than clients take, or can't be read.
 */
export async function skillFiles (directory: string): Promise<SkillFile[]> {
  return await filesOf(directory, async (path, { size }) => ({ path, size: Number(size) }))
}

/**
 * The same with their digests.
 *
 * @param known those of the last time, by path, which are not read again unless they were changed; it has those of this time then
 * @throws as `skillFiles`
 */
export async function digestedSkillFiles (directory: string, known: Map<string, DigestedFile>): Promise<DigestedFile[]> {
  const files = await filesOf(directory, async (path, { dev, ino, size, ctimeNs, ctimeMs }, handle) => {
    // As for manifests: only the time of the last change can't be set.
    const state = Date.now() - Number(ctimeMs) > settledMs ? [dev, ino, size, ctimeNs].join() : undefined
    const before = known.get(path)
    if (state !== undefined && before?.state === state) return before
    const digested = await digestOf(handle)
    return digested && { path, state, ...digested }
  })
  known.clear()
  for (const file of files) known.set(file.path, file)
  return files
}

async function filesOf<File extends SkillFile> (
  directory: string, look: (path: string, stats: BigIntStats, handle: FileHandle) => Promise<File | undefined>
): Promise<File[]> {
  const paths = await pathsIn(directory, '', { directories: 0 })
  const files: File[] = []
  let bytes = 0
  for (const path of paths.sort()) {
    const file = await withSkillFile(directory, path, async handle => {
      const stats = await handle.stat({ bigint: true })
      return stats.size > most.bytes ? undefined : await look(path, stats, handle)
    })
    if (file === undefined) continue
    bytes += file.size
    if (bytes > most.bytes) throw new Error(`has more than ${most.bytes} bytes`)
    files.push(file)
  }
  return files
}

/** Entries by name; undefined for what is no directory of the skill. */
export async function skillChildren (directory: string, path: string): Promise<SkillChild[] | undefined> {
  const inside = join(directory, path)
  const place = await realpath(inside).catch(() => undefined)
  if (!isPath(path) || place !== join(await realpath(directory), path)) return undefined
  try {
    const children: SkillChild[] = []
    for await (const entry of await opendir(inside)) {
      const isDirectory = entry.isDirectory()
      if (isShown(entry.name) && (entry.isFile() || isDirectory)) children.push({ name: entry.name, isDirectory })
      if (children.length > most.files) break
    }
    return children.sort((a, b) => a.name < b.name ? -1 : 1)
  } catch {
    return undefined
  }
}

/**
 * The content of a file of a skill; undefined for what is none: hidden, out of its directory, or no file.
 *
 * @param refuse throws for a file that is too large
 */
export async function readSkillFile (directory: string, path: string, refuse: (bytes: number) => void): Promise<Buffer | undefined> {
  return await withSkillFile(directory, path, async handle => {
    const { size } = await handle.stat()
    refuse(size)
    // No more than that, also of one that grows.
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size), 0, size, 0)
    return buffer.subarray(0, bytesRead)
  })
}

/**
 * Opens a file of a skill. A tool that may write there can put a link in its place at any moment, so the file that was opened
 * is asked where it is.
 */
async function withSkillFile<T> (directory: string, path: string, use: (handle: FileHandle) => Promise<T>): Promise<T | undefined> {
  if (path === '' || !isPath(path)) return undefined
  const root = await realpath(directory)
  const real = await realpath(join(root, path)).catch(() => undefined)
  // A link inside of the skill leads to one of its files.
  if (real?.startsWith(root + sep) !== true || !isPath(real.slice(root.length + 1))) return undefined
  const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined)
  if (handle === undefined) return undefined
  try {
    const place = await realpath(`/proc/self/fd/${handle.fd}`).catch(() => undefined)
    return place === real && (await handle.stat()).isFile() ? await use(handle) : undefined
  } finally {
    await handle.close()
  }
}

/** Piece by piece: the digest of a large file at once would hold up the process. Undefined for one that no skill may have. */
async function digestOf (handle: FileHandle): Promise<{ size: number, digest: string } | undefined> {
  const hash = createHash('sha256')
  let size = 0
  for await (const piece of handle.createReadStream({ autoClose: false, end: most.bytes })) {
    if (!(piece instanceof Buffer)) throw new Error('A piece of a file is no bytes')
    hash.update(piece)
    size += piece.length
  }
  return size > most.bytes ? undefined : { size, digest: hash.digest('hex') }
}

async function pathsIn (directory: string, path: string, count: { directories: number }): Promise<string[]> {
  count.directories += 1
  if (count.directories > most.directories) throw new Error(`has more than ${most.directories} directories`)
  const children = await skillChildren(directory, path) ?? []
  const paths: string[] = []
  for (const { name, isDirectory } of children) {
    const child = path === '' ? name : `${path}/${name}`
    if (child.split('/').length > most.levels) throw new Error(`has more than ${most.levels} levels of directories`)
    paths.push(...isDirectory ? await pathsIn(directory, child, count) : [child])
    if (paths.length > most.files) throw new Error(`has more than ${most.files} files`)
  }
  return paths
}

/** Names from the skill's directory on, none of which leads out of it or is hidden. */
function isPath (path: string): boolean {
  return path === '' || path.split('/').every(isShown)
}

function isShown (name: string): boolean {
  return name !== '' && !name.startsWith('.') && !name.includes(sep) && !name.includes('\0')
}

/** The absolute path of a file or directory of a skill, which links inside of it may lead to; undefined for any other. */
export async function skillPath (directory: string, path: string): Promise<string | undefined> {
  if (!isPath(path)) return undefined
  const root = await realpath(directory).catch(() => undefined)
  if (root === undefined) return undefined
  const real = await realpath(join(root, path)).catch(() => undefined)
  return real === root || real?.startsWith(root + sep) === true ? real : undefined
}
