import { createHash } from 'node:crypto'
import { lstat, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { asError } from '@toolyard/contract/terms'
import { filePieces } from '../../document/manifest-file.ts'
import type { Finding } from '../../finding/finding.ts'
import { mostTree } from '../../layer/lock/tree-digest.ts'

/** Digits of the SHA-256 that a version is named after. */
const digits = 12
const hashName = new RegExp(`^[0-9a-f]{${digits}}$`)

/** The files of a version are not those that it is named after. Directories with other names are no hashes. */
export async function versionFindings (version: string): Promise<Finding[]> {
  const name = basename(version)
  if (!hashName.test(name)) return []
  const hash = await contentHash(version).catch((error: unknown) => asError(error).message)
  if (hash === name) return []
  return [{
    severity: 'warning',
    file: version,
    rule: 'SN37',
    message: `the files of this version are not those that it is named after: their hash is ${hash}`,
    fix: 'Restore the files, or name the directory after its hash.'
  }]
}

/** The hash of a version, as the format has it: of the paths of its files in order, each with what is in it. Links don't count. */
async function contentHash (version: string): Promise<string> {
  const count = { files: 0, bytes: 0 }
  const paths = await pathsBelow(version, '', count)
  const hash = createHash('sha256')
  for (const path of paths.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
    hash.update(`${path}\0`)
    for await (const piece of filePieces(join(version, path))) hash.update(piece)
  }
  return hash.digest('hex').slice(0, digits)
}

/** @throws Error for more than a skill may have. */
async function pathsBelow (version: string, prefix: string, count: { files: number, bytes: number }): Promise<string[]> {
  const paths: string[] = []
  if (prefix.split('/').length > mostTree.levels) throw new Error('it lies too deep')
  for (const entry of await readdir(join(version, prefix), { withFileTypes: true })) {
    const path = `${prefix}${entry.name}`
    if (prefix === '' && (entry.name === 'versions' || entry.name === 'active')) continue
    if (entry.isDirectory()) paths.push(...await pathsBelow(version, `${path}/`, count))
    if (!entry.isFile()) continue
    count.files += 1
    count.bytes += (await lstat(join(version, path))).size
    if (count.files > mostTree.files || count.bytes > mostTree.bytes) throw new Error(`it has more than ${mostTree.files} files or ${mostTree.bytes} bytes`)
    paths.push(path)
  }
  return paths
}
