import { lstatSync, type BigIntStats } from 'node:fs'
import { errorCode } from '@toolyard/contract/terms'
import { LoopTurns } from '@toolyard/runtime'
import { maxDepth } from '../files/delete-tree.ts'
import { typeOfFile } from '../files/media-type.ts'
import { newNameFault } from '../files/entry-names.ts'
import { entryPath, openDirectory, openTopDirectory, type Directory } from '../walk/directory.ts'
import { readEntriesSync } from '../walk/entries.ts'
import { removeAbandoned } from '../write/abandoned.ts'
import { isOwnName } from '../service/own-names.ts'
import { hashBounds, readContent, type Content } from './content.ts'
import { giveOwnerRights } from '../walk/owner-rights.ts'

/*
 * One walk through the directory of a session finds what its files take and which of them a call has changed. No directory is
 * entered through a link, whatever is swapped meanwhile. See docs/decisions/0079-result-files.md.
 */

interface ChangedFile extends Content {
  /** From the workspace, with `/`. */
  path: string
}

export interface Survey {
  /** Of the disk, Infinity for a tree that is too deep to be followed. */
  bytes: number
  /** With every hole filled: writing through mapped memory does that, and no watch hears of it. */
  filledBytes: number
  entries: number
  /** The files that were changed, by path. */
  changed: ChangedFile[]
  /** Whether more were changed than are named. */
  hasMore: boolean
}

export interface SurveyOptions {
  /** When the files take more, counting ends. */
  mostBytes: number
  /** The time of the file system from which on changes count, as `FileClock` tells; undefined: nobody asks for them. */
  since: bigint | undefined
  /** Whose session it is: tenants take turns. */
  tenant: string | undefined
  /** Ends the walk, which is rejected with its reason. */
  signal?: AbortSignal
  /** Gets each directory before it is read. */
  onDirectory?: (directory: Directory) => void
}

/** Even an empty file is an entry. */
export const leastBytes = 512
const blockBytes = 512
/** Files with several names that are remembered. Of more, each name counts. */
const mostLinked = 100_000
/** Entries of a directory that are read at a time. */
const bufferSize = 64
/** How long a walk keeps the event loop at a time, in milliseconds, and the part of a turn that this is: any number of walks may be under way. */
const slice = { ms: 0.5, part: 1 / 8 }
/** Files that are named, and the bytes of their paths. */
const most = { files: 100, pathBytes: 8_192 }

/** What an entry takes of the disk. */
export function takenBytes ({ blocks }: { blocks: number | bigint }): number {
  return Math.max(leastBytes, Number(blocks) * blockBytes)
}

/** Of all walks of the process. */
const turns = new LoopTurns()

/** Walks through the directory of a session. @throws errors of the file system; the reason of the signal. */
export async function surveySession (dir: string, options: SurveyOptions): Promise<Survey> {
  const walk = new Walk(options)
  await walk.nextTurn()
  await walk.enter(() => openTopDirectory(dir), { path: '', depth: 0, isMoved: false })
  return walk.result()
}

interface Level {
  /** Empty, or with a slash at its end. */
  path: string
  depth: number
  /** The directory was moved: all that is in it has another path. */
  isMoved: boolean
}

class Walk {
  readonly #options: SurveyOptions
  readonly #linked = new Set<string>()
  readonly #changed: ChangedFile[] = []
  #bytes = 0
  #holes = 0
  #entries = 0
  #hasMore = false
  #pathBytes = 0
  #hashBytes = 0
  #sliceEnd = 0

  constructor (options: SurveyOptions) {
    this.#options = options
  }

  result (): Survey {
    const changed = this.#changed.sort((a, b) => a.path < b.path ? -1 : 1)
    return { bytes: this.#bytes, filledBytes: this.#bytes + this.#holes, entries: this.#entries, changed, hasMore: this.#hasMore }
  }

  async enter (open: () => Directory, level: Level): Promise<void> {
    if (level.depth > maxDepth) {
      this.#bytes = Infinity
      return
    }
    let directory: Directory | undefined
    let isOwn = false
    try {
      directory = open()
      isOwn = giveOwnerRights(directory)
      this.#options.onDirectory?.(directory)
      await this.#lookThrough(directory, level)
    } catch (error) {
      // A tool takes the right away again and again.
      if (errorCode(error) === 'EACCES' && isOwn) this.#bytes = Infinity
      else if (!isPassing(error)) throw error
    } finally {
      directory?.handle.close()
    }
  }

  async #lookThrough (directory: Directory, level: Level): Promise<void> {
    for (const { name } of readEntriesSync(directory, bufferSize)) {
      await this.#look(directory, name, level)
      if (this.#bytes > this.#options.mostBytes) return
      await this.#rest()
    }
  }

  async #look (directory: Directory, name: string, level: Level): Promise<void> {
    // Nobody sees it, so nobody could make that room.
    const place = entryPath(directory, name)
    if (isOwnName(name) && removeAbandoned(place)) return
    const stats = lstatSync(place, { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) return
    this.#entries += 1
    const isLinked = stats.nlink > 1n && !stats.isDirectory()
    if (!isLinked || !this.#isKnown(`${stats.dev}:${stats.ino}`)) {
      const taken = Number(stats.blocks) * blockBytes
      this.#bytes += takenBytes(stats)
      if (stats.isFile()) this.#holes += Math.max(0, Number(stats.size) - taken)
    }
    const { since } = this.#options
    if (stats.isDirectory()) await this.#descend(directory, name, stats, level)
    else if (stats.isFile() && since !== undefined && (level.isMoved || stats.ctimeNs >= since)) {
      await this.#note(directory, name, stats, level)
    }
  }

  async #descend (parent: Directory, name: string, stats: BigIntStats, { path, depth, isMoved }: Level): Promise<void> {
    const { since } = this.#options
    // A new name changes the directory, and nothing that is in it.
    const wasMoved = isMoved || (since !== undefined && stats.ctimeNs >= since && stats.mtimeNs < since)
    const level = { path: `${path}${name}/`, depth: depth + 1, isMoved: wasMoved }
    await this.enter(() => openDirectory(parent, name), level)
  }

  #isKnown (file: string): boolean {
    if (this.#linked.has(file)) return true
    if (this.#linked.size < mostLinked) this.#linked.add(file)
    return false
  }

  async #note (directory: Directory, name: string, stats: BigIntStats, { path }: Level): Promise<void> {
    if (isOwnName(name)) return
    const whole = `${path}${name}`
    const pathBytes = this.#pathBytes + Buffer.byteLength(whole)
    const isNameable = whole.split('/').every(part => newNameFault(part) === undefined)
    if (!isNameable || this.#changed.length >= most.files || pathBytes > most.pathBytes) {
      this.#hasMore = true
      return
    }
    this.#pathBytes = pathBytes
    const bound = Math.min(hashBounds.one, hashBounds.all - this.#hashBytes)
    const content = await readContent({ directory, name }, bound)
    if (content?.sha256 !== undefined) this.#hashBytes += content.size
    this.#changed.push({ path: whole, ...(content ?? { size: Number(stats.size), type: typeOfFile(name, new Uint8Array()) }) })
  }

  async #rest (): Promise<void> {
    this.#options.signal?.throwIfAborted()
    if (performance.now() >= this.#sliceEnd) await this.nextTurn()
  }

  async nextTurn (): Promise<void> {
    await turns.run(this.#options.tenant ?? '', slice.part, () => {})
    this.#sliceEnd = performance.now() + slice.ms
  }
}

/** It is gone by now, something else is there, or nobody may read it, who may not write to it either. */
function isPassing (error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES'].includes(errorCode(error) ?? '')
}
