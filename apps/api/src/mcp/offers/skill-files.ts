import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { open, opendir, realpath } from 'node:fs/promises'
import { join, sep } from 'node:path'

/** What the Skills extension lets a skill have: clients need not take more. */
const most = { files: 512, bytes: 16 * 1024 * 1024, levels: 16 }

/** A file of a skill: its path from the skill's directory, parts joined by `/`. */
export interface SkillFile {
  path: string
  size: number
  /** SHA-256, in lower case hex. */
  digest: string
}

/** What is in a directory of a skill. */
export interface SkillChild {
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
    const content = await readSkillFile(directory, path)
    if (content === undefined) continue
    bytes += content.length
    if (bytes > most.bytes) throw new Error(`has more than ${most.bytes} bytes`)
    files.push({ path, size: content.length, digest: createHash('sha256').update(content).digest('hex') })
  }
  return files
}

/** What is in a directory of a skill, by name; undefined for what is no directory of it. */
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
 * The content of a file of a skill; undefined for what is none: hidden, a link, no file, or too large. A tool that may
 * write there can put a link in its place at any moment, so the file that was opened is asked where it is.
 */
export async function readSkillFile (directory: string, path: string): Promise<Buffer | undefined> {
  if (path === '' || !isPath(path)) return undefined
  const root = await realpath(directory)
  const handle = await open(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => undefined)
  if (handle === undefined) return undefined
  try {
    const place = await realpath(`/proc/self/fd/${handle.fd}`).catch(() => undefined)
    const { size } = await handle.stat()
    if (place !== join(root, path) || !(await handle.stat()).isFile() || size > most.bytes) return undefined
    const content = await handle.readFile()
    return content.length > most.bytes ? undefined : content
  } finally {
    await handle.close()
  }
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
