import { createHash } from 'node:crypto'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { filePieces } from '../../document/manifest-file.ts'

/** Files and bytes that are hashed: more than anything that is added may have. */
export const mostTree = { files: 20_000, bytes: 268_435_456, levels: 32 }

/**
 * A digest of a file, or of all files of a directory with their paths and whether they may be executed. Nothing else counts, so
 * that it is the same on every machine.
 *
 * @throws Error for links, devices, and what is too large or can't be read.
 */
export async function treeDigest (path: string): Promise<string> {
  const found = await lstat(path)
  const count = { files: 0, bytes: 0 }
  const hash = createHash('sha256')
  if (found.isFile()) hash.update(await fileDigest(path))
  else if (found.isDirectory()) await addDirectory(path, '')
  else throw new Error(`${path} is neither a file nor a directory`)
  return `sha256:${hash.digest('hex')}`

  async function addDirectory (directory: string, prefix: string): Promise<void> {
    if (prefix.split('/').length > mostTree.levels) throw new Error(`${directory} lies too deep`)
    const names = (await readdir(directory)).sort()
    for (const name of names) {
      const file = join(directory, name)
      const entry = await lstat(file)
      if (entry.isDirectory()) {
        await addDirectory(file, `${prefix}${name}/`)
        continue
      }
      if (!entry.isFile()) throw new Error(`${file} is a link or a device`)
      count.files += 1
      count.bytes += entry.size
      if (count.files > mostTree.files || count.bytes > mostTree.bytes) throw new Error(`${path} has more than ${mostTree.files} files or ${mostTree.bytes} bytes`)
      hash.update(`${(entry.mode & 0o100) === 0 ? '-' : 'x'} ${prefix}${name}\0${await fileDigest(file)}\n`)
    }
  }
}

/** Piece by piece: a large file at once would hold up the process. */
async function fileDigest (file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of filePieces(file)) hash.update(piece)
  return hash.digest('hex')
}
