import { randomUUID } from 'node:crypto'
import { chmod, lstat, mkdir, readdir, realpath, rename, copyFile, readlink, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { asError, errorCode } from '@toolyard/contract/terms'
import { removeTree } from '../files/delete-tree.ts'
import { openTopDirectory, entryPath, openDirectory, type Directory } from '../walk/directory.ts'
import { giveOwnerRightsAt } from '../walk/owner-rights.ts'
import { constants, lstatSync } from 'node:fs'
import { readEntries } from '../walk/entries.ts'
import { WorkspaceFailure } from '../failure/failure.ts'
import { takenBytes } from './survey.ts'

/** Entries of a directory that are in memory at a time. */
const bufferSize = 64

/*
 * The directories of sessions, by id, in one directory that all workers share. `.making` has what is being copied from a
 * template, and `.trash` what is being removed: a rename leads from and to them, so that a crash leaves nothing half made in
 * the place of a session, nor anything that its calls could still reach.
 */

/** Where the sessions are, and what they may begin as. */
export interface SessionPlaces {
  dir: string
  templatesDir: string | undefined
}

/** A session can't begin as its template: it isn't there, or changes all the time. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
}

const ownerOnly = 0o700
/** What a file system without room says. */
const fullCodes = ['ENOSPC', 'EDQUOT']
/** How long files are removed at once, in milliseconds. */
const roomMs = 50
/** A template that changes while it is copied is copied anew, so often in all. */
const mostCopies = 5
/** What a copy meets of an entry that was removed or replaced meanwhile. */
const changed = ['ENOENT', 'ENOTDIR', 'ELOOP']

/**
 * The directory of a session, which is made when it isn't there. Only who holds a lease of the session may call this.
 *
 * @throws TemplateError; WorkspaceFailure QUOTA_EXCEEDED for a template that takes more than the quota; errors of the file system.
 */
export async function openSessionDirectory (
  { dir, templatesDir }: SessionPlaces, { id, from, quotaBytes }: { id: string, from: string | undefined, quotaBytes: number }
): Promise<string> {
  const place = join(dir, id)
  if (await isDirectory(place)) return place
  // With the first session: once the disk is full there may be no room for it.
  await makeDirectory(trashIn(dir))
  if (from === undefined) {
    await mkdir(place, { mode: ownerOnly }).catch(unlessThere)
    return place
  }
  for (let copies = 1; ; copies++) {
    const template = await templateOf(templatesDir, from)
    const aside = join(dir, '.making', `${id}.${randomUUID()}`)
    try {
      await makeDirectory(aside)
      await copyTemplate(template, aside, createRoom(from, quotaBytes))
      await put(aside, place)
      return place
    } catch (error) {
      if (!changed.includes(errorCode(error) ?? '')) throw error
      if (copies === mostCopies) throw new TemplateError(`the template '${from}' of the session changes while it is copied`, { cause: error })
    } finally {
      await discard(dir, id, [aside])
    }
  }
}

/** Operators switch versions of a template by a link, and volumes of Kubernetes are links. A copy is of one version. */
async function templateOf (templatesDir: string | undefined, from: string): Promise<string> {
  const template = templatesDir === undefined ? undefined : await realpath(join(templatesDir, from)).catch(unlessGone)
  if (template === undefined || !await isDirectory(template)) throw new TemplateError(`the template '${from}' of the session is not there`)
  return template
}

/** Counts an entry before it is copied. @throws WorkspaceFailure where the quota has no room for it */
type TakeRoom = (path: string | Buffer) => void

function createRoom (from: string, quotaBytes: number): TakeRoom {
  let left = quotaBytes
  return path => {
    const stats = lstatSync(path)
    // A copy has no holes.
    left -= Math.max(takenBytes(stats), stats.isFile() ? stats.size : 0)
    if (left < 0) throw new WorkspaceFailure(`the template '${from}' of the session takes more than its quota of ${quotaBytes} bytes`, 'QUOTA_EXCEEDED')
  }
}

async function copyTemplate (template: string, aside: string, take: TakeRoom): Promise<void> {
  const from = openTopDirectory(template)
  try {
    const to = openTopDirectory(aside)
    try {
      await copyTree(from, to, take)
    } finally {
      to.handle.close()
    }
  } finally {
    from.handle.close()
  }
  await chmod(aside, ((await lstat(template)).mode & 0o7777) | ownerOnly)
}

/**
 * Puts a copy in its place, unless another one is there. A rename would replace an empty directory that is there, in which a call
 * may work by now.
 */
async function put (aside: string, place: string): Promise<void> {
  if ((await readdir(aside)).length > 0) return await rename(aside, place).catch(unlessThere)
  const isOwn = await mkdir(place, { mode: ownerOnly }).then(() => true, unlessThere)
  if (isOwn === true) await chmod(place, (await lstat(aside)).mode & 0o7777)
}

/** Puts the directory of a session where no call reaches it; `Trash` removes it. Only for a session that nobody holds a lease of. */
export async function discardSession ({ dir }: SessionPlaces, id: string): Promise<void> {
  const making = join(dir, '.making')
  const halfMade = (await readdir(making).catch(unlessGone) ?? []).filter(name => name.startsWith(id)).map(name => join(making, name))
  await discard(dir, id, [...halfMade, join(dir, id)])
}

/** The names in the trash tell which session it was. */
async function discard (dir: string, id: string, places: readonly string[]): Promise<void> {
  const trash = trashIn(dir)
  for (const place of places) {
    if (!await isThere(place)) continue
    await makeDirectory(trash).catch(async (error: unknown) => {
      if (!fullCodes.includes(errorCode(error) ?? '')) throw error
      await removeForAWhile(place)
      await makeDirectory(trash)
    })
    // Who may not write to a directory can't move it elsewhere.
    if (await isDirectory(place)) giveOwnerRightsAt(place)
    await rename(place, join(trash, `${id}.${randomUUID()}`)).catch(unlessGone)
  }
}

/** A full disk has no room for the trash: something of what goes there anyway is removed before. */
async function removeForAWhile (place: string): Promise<void> {
  const parent = openTopDirectory(dirname(place))
  const until = performance.now() + roomMs
  try {
    await removeTree(parent, basename(place), { givesRights: true, isOver: () => performance.now() >= until })
  } finally {
    parent.handle.close()
  }
}

/** Makes a directory, and those above it that lack. Node.js's own way says ENOENT of a full disk. */
async function makeDirectory (path: string): Promise<void> {
  const make = async (): Promise<unknown> => await mkdir(path, { mode: ownerOnly }).catch(unlessThere)
  await make().catch(async (error: unknown) => {
    unlessGone(error)
    await makeDirectory(dirname(path))
    await make()
  })
}

/** Where sessions are moved that are removed. */
export function trashIn (dir: string): string {
  return join(dir, '.trash')
}

async function isDirectory (path: string): Promise<boolean> {
  return (await lstat(path).catch(unlessGone))?.isDirectory() === true
}

async function isThere (path: string): Promise<boolean> {
  return await lstat(path).catch(unlessGone) !== undefined
}

/** Another process may have made it. */
function unlessThere (error: unknown): void {
  if (!['EEXIST', 'ENOTEMPTY'].includes(errorCode(error) ?? '')) throw error
}

function unlessGone (error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error
}

/** Copies what is in a directory to an empty one: files, directories and links as they are, with their permissions. */
async function copyTree (from: Directory, to: Directory, take: TakeRoom): Promise<void> {
  for await (const { name, dirent } of readEntries(from, bufferSize)) {
    const [source, target] = [entryPath(from, name), entryPath(to, name)]
    take(source)
    if (dirent.isDirectory()) await copyDirectory(from, to, name, take)
    else if (dirent.isFile()) await copyFile(source, target, constants.COPYFILE_EXCL)
    else if (dirent.isSymbolicLink()) await symlink(await readlink(source, 'buffer'), target)
  }
}

async function copyDirectory (from: Directory, to: Directory, name: string, take: TakeRoom): Promise<void> {
  const source = openDirectory(from, name)
  try {
    await mkdir(entryPath(to, name))
    const target = openDirectory(to, name)
    try {
      await copyTree(source, target, take)
    } finally {
      target.handle.close()
    }
    await chmod(entryPath(to, name), lstatSync(entryPath(from, name)).mode & 0o7777)
  } finally {
    source.handle.close()
  }
}
