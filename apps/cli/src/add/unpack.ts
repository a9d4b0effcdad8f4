import { isUtf8 } from 'node:buffer'
import { createWriteStream } from 'node:fs'
import { chmod, mkdir, readdir } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { asError } from '@toolyard/contract/terms'
import { kindOf, tarEntries, type TarEntry } from '@toolyard/workspace'
import { mostTree } from '@toolyard/manifests'
import { CommandError } from '../terminal/exit-status.ts'

// eslint-disable-next-line no-control-regex -- Such letters hide what a name is.
export const hiding = /[\u0000-\u001f\u007f\\]/
/** Characters of a path, and of one name in it. */
const mostChars = { path: 1_024, name: 255 }

/**
 * Unpacks a tar archive into an empty directory: files and directories, and nothing that leads out of it. What is the same name
 * to some file system stands once.
 *
 * @throws CommandError that names the entry.
 */
export async function unpackInto (directory: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  const kinds = new Map<string, 'file' | 'directory'>()
  const spelled = new Map<string, string>()
  let bytes = 0
  let entries = 0
  let current: TarEntry | undefined
  try {
    for await (const entry of tarEntries(pieces)) {
      current = entry
      entries += 1
      if (entries > mostTree.files) throw new Error(`is one too many: at most ${mostTree.files} are taken`)
      const kind = kindOf(entry)
      const path = archivePath(entry.name)
      if (path === '' || path.split('/').some(isGits)) continue
      claim(path, kind)
      const place = join(directory, path)
      if (kind === 'directory') {
        await mkdir(place, { recursive: true })
        continue
      }
      bytes += entry.size
      if (bytes > mostTree.bytes) throw new Error(`is too much: at most ${mostTree.bytes} bytes are taken`)
      await mkdir(dirname(place), { recursive: true })
      await pipeline(entry.content, createWriteStream(place, { flags: 'wx' }))
      await chmod(place, (entry.mode & 0o100) === 0 ? 0o644 : 0o755)
      current = undefined
    }
  } catch (error) {
    const message = asError(error).message.replace(/^The body is/, 'The archive is')
    throw new CommandError(current === undefined || message.startsWith('The archive') ? message : `The entry ${JSON.stringify(current.name.toString('utf8').slice(0, 200))} of the archive: ${message}`, { code: 'ARCHIVE' })
  }

  /** Each name on the way is a directory, and is written in one way. */
  function claim (path: string, kind: 'file' | 'directory'): void {
    const names = path.split('/')
    for (const at of names.keys()) {
      const part = names.slice(0, at + 1).join('/')
      const other = spelled.get(folded(part))
      if (other !== undefined && other !== part) throw new Error(differs(other))
      const isLast = at === names.length - 1
      const known = kinds.get(part)
      if (isLast && kind === 'file' && known !== undefined) throw new Error('stands twice')
      if (!isLast && known === 'file') throw new Error('lies in a file')
      if (isLast && kind === 'directory' && known === 'file') throw new Error('is a file as well')
      spelled.set(folded(part), part)
      if (known === undefined) kinds.set(part, isLast ? kind : 'directory')
      // Names on the way too: each entry may have a few that no other one has.
      if (kinds.size > mostTree.files) throw new Error(`is too much: at most ${mostTree.files} files and directories are taken`)
    }
  }
}

/** The path of an entry below the directory that it is unpacked into; empty for that itself. @throws Error for one that leads elsewhere. */
export function archivePath (name: Buffer): string {
  if (!isUtf8(name)) throw new Error('has a name that is no text')
  const path = name.toString()
  if (path.startsWith('/') || hiding.test(path)) throw new Error('has a path from the root, or letters that no name may have')
  const names = path.split('/').filter(each => each !== '.' && each !== '')
  if (names.includes('..')) throw new Error('leads out of the archive')
  if (names.length > mostTree.levels || path.length > mostChars.path || names.some(each => Buffer.byteLength(each) > mostChars.name)) throw new Error('has a path that is too long')
  return names.join('/')
}

/** git would run what such a directory names. */
export function isGits (name: string): boolean {
  return folded(name) === '.git'
}

/** The first directory that git takes for a repository by what is in it, and would run what its settings name. */
export async function repositoryIn (directory: string): Promise<string | undefined> {
  const names = new Map<string, Set<string>>()
  for (const { parentPath, name } of await readdir(directory, { recursive: true, withFileTypes: true })) {
    names.set(parentPath, (names.get(parentPath) ?? new Set()).add(folded(name)))
  }
  const isRepository = (found: ReadonlySet<string>): boolean => found.has('head') && (found.has('commondir') || (found.has('objects') && found.has('refs')))
  const path = [...names.keys()].find(path => isRepository(names.get(path) ?? new Set()))
  return path === undefined ? undefined : relative(directory, path) || '.'
}

/** Some file system, or whoever reads it, takes two names with the same result for one. */
export function folded (name: string): string {
  return name.normalize('NFC').toLowerCase()
}

export function differs (other: string): string {
  return `has a name that differs from ${JSON.stringify(other)} in case or in the form of its letters alone`
}
