import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, opendir, realpath, type FileHandle } from 'node:fs/promises'
import { join, sep } from 'node:path'

/** Bounds of the Skills extension: clients need not take more. */
const most = { files: 512, bytes: 16 * 1024 * 1024, levels: 16 }

/** A file of a skill: its path from the skill's directory, parts joined by `/`. */
interface SkillFile {
  path: string
  size: number
  /** SHA-256, in lower case hex. */
  digest: string
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
  const paths = await pathsIn(directory, '')
  const files: SkillFile[] = []
  let bytes = 0
  for (const path of paths.sort()) {
    const digested = await withSkillFile(directory, path, digestOf)
    if (digested === undefined) continue
    bytes += digested.size
    if (bytes > most.bytes) throw new Error(`has more than ${most.bytes} bytes`)
    files.push({ path, ...digested })
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
    refuse((await handle.stat()).size)
    const content = await handle.readFile()
    refuse(content.length)
    return content
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
  if ((await handle.stat()).size > most.bytes) return undefined
  const hash = createHash('sha256')
  let size = 0
  for await (const piece of handle.createReadStream({ autoClose: false, end: most.bytes })) {
    if (!(piece instanceof Buffer)) throw new Error('A piece of a file is no bytes')
    hash.update(piece)
    size += piece.length
  }
  return size > most.bytes ? undefined : { size, digest: hash.digest('hex') }
}

async function pathsIn (directory: string, path: string): Promise<string[]> {
  const children = await skillChildren(directory, path) ?? []
  const paths: string[] = []
  for (const { name, isDirectory } of children) {
    const child = path === '' ? name : `${path}/${name}`
    if (child.split('/').length > most.levels) throw new Error(`has more than ${most.levels} levels of directories`)
    paths.push(...isDirectory ? await pathsIn(directory, child) : [child])
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
