import { lstat, opendir } from 'node:fs/promises'
import { errorCode } from '@toolyard/contract/terms'
import { maxDepth } from '../files/delete-tree.ts'
import { entryPath, openDirectory, openTopDirectory, type Directory } from '../walk/directory.ts'
import { giveOwnerRights } from './owner-rights.ts'

/** What an entry takes at least: even an empty file is one. */
const leastBytes = 512
const blockBytes = 512
/** Files with several names that are remembered. Of more, each name counts. */
const mostLinked = 100_000

/** What the files of a directory take. */
export interface Usage {
  bytes: number
  entries: number
}

interface Count extends Usage {
  most: number
  linked: Set<string>
}

/**
 * The bytes of the disk that the files of a directory take, counted until they are more than `most`. Tools change it meanwhile:
 * each directory is reached through the open one above, and never by a link. One that can't be looked through, because it is too
 * deep, takes more than anything.
 */
export async function usageOf (dir: string, most: number): Promise<Usage> {
  const count = { bytes: 0, entries: 0, most, linked: new Set<string>() }
  await add(count, () => openTopDirectory(dir), 0)
  return { bytes: count.bytes, entries: count.entries }
}

async function add (count: Count, open: () => Directory, depth: number): Promise<void> {
  if (depth > maxDepth) {
    count.bytes = Infinity
    return
  }
  let directory: Directory | undefined
  let isOwn = false
  try {
    directory = open()
    isOwn = giveOwnerRights(directory)
    await addEntries(count, directory, depth)
  } catch (error) {
    const code = errorCode(error)
    // A tool takes the right away again and again.
    if (code === 'EACCES' && isOwn) count.bytes = Infinity
    // It is gone by now, something else is there, or nobody may read it, who may not write to it either.
    else if (!['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].includes(code ?? '')) throw error
  } finally {
    directory?.handle.close()
  }
}

async function addEntries (count: Count, directory: Directory, depth: number): Promise<void> {
  for await (const entry of await opendir(entryPath(directory, '.'), { bufferSize: 64 })) {
    count.entries += 1
    const { blocks, nlink, dev, ino } = await lstat(entryPath(directory, entry.name))
    const isCounted = entry.isDirectory() || nlink === 1 || !isKnown(count.linked, `${dev}:${ino}`)
    if (isCounted) count.bytes += Math.max(leastBytes, blocks * blockBytes)
    if (entry.isDirectory() && count.bytes <= count.most) await add(count, () => openDirectory(directory, entry.name), depth + 1)
    if (count.bytes > count.most) return
  }
}

function isKnown (linked: Set<string>, id: string): boolean {
  if (linked.has(id)) return true
  if (linked.size < mostLinked) linked.add(id)
  return false
}
