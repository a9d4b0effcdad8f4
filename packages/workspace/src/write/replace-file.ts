import { constants, lstatSync, type BigIntStats } from 'node:fs'
import { link, open, rename, unlink, type FileHandle } from 'node:fs/promises'
import { entryPath, type Directory } from '../walk/directory.ts'
import { temporaryName } from '../service/own-names.ts'
import { plainMode } from './special-bits.ts'

export interface FileStanding {
  mode: number
  uid: number
  gid: number
}

export interface Replacement {
  /** The new file takes it over; undefined for a file that wasn't there. */
  standing: FileStanding | undefined
  /** Called just before the new file takes the place; throws when it must not. */
  check: () => void
}

/** Does what syncs a file when its turn comes. */
export type ToDisk = <T>(sync: () => Promise<T>) => Promise<T>

const atOnce: ToDisk = async sync => await sync()

/** The content of a file to be, which comes at once or in pieces. */
export type FileContent = Uint8Array | AsyncIterable<Uint8Array>

/** A file in the making, beside the place that it is for. Whoever has it puts it there or discards it. */
export interface Draft {
  /**
   * Puts it in a place in its own directory or below: every reader sees the whole of the old file or of the new one.
   *
   * @param onto whether it may replace what is there; onto `nothing`, a taken name is an EEXIST
   * @returns what it is there; as it was before where it is gone, or changed, by then.
   */
  put: (place: { directory: Directory, name: string }, onto?: 'anything' | 'nothing') => Promise<BigIntStats>
  discard: () => Promise<void>
}

/**
 * Puts a file with this content in the place of `name`, so that every reader, also after a crash, sees the whole of the
 * old one or the whole of the new one. Permissions and owner are those of `standing`, where it may give them; setuid,
 * setgid and sticky bits never are.
 */
export async function replaceFile (
  { directory, name }: { directory: Directory, name: string }, content: FileContent, { standing, check }: Replacement
): Promise<void> {
  const draft = await writeDraft(directory, content, standing)
  try {
    check()
    await draft.put({ directory, name })
  } catch (error) {
    await draft.discard()
    throw error
  }
}

/**
 * Writes a file aside in a directory that stays open until the draft is put or discarded. On an error nothing is left.
 *
 * @param newMode the permissions of a file that replaces none, of which the process's own mask is taken
 * @param toDisk for who writes many files at once: each sync takes one of the few threads that all work with files has. To put the
 * draft syncs too, and then there is no way back: the turn for that is taken before
 */
export async function writeDraft (
  directory: Directory, content: FileContent, standing: FileStanding | undefined, newMode = 0o666, toDisk = atOnce
): Promise<Draft> {
  const temporary = entryPath(directory, temporaryName())
  const handle = await open(
    temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, standing === undefined ? newMode : 0o600
  )
  const discard = async (): Promise<void> => { await unlink(temporary).catch(() => {}) }
  try {
    // Each piece goes on where the one before ended.
    for await (const piece of content instanceof Uint8Array ? [content] : content) await handle.writeFile(piece)
    if (standing !== undefined) await takeOver(handle, standing)
    await toDisk(async () => { await handle.sync() })
  } catch (error) {
    await discard()
    throw error
  } finally {
    await handle.close()
  }
  return {
    put: async (place, onto = 'anything') => {
      const path = entryPath(place.directory, place.name)
      const before = lstatSync(temporary, { bigint: true })
      if (onto === 'anything') {
        await rename(temporary, path)
      } else {
        await link(temporary, path)
        await discard()
      }
      const now = lstatSync(path, { bigint: true, throwIfNoEntry: false })
      await syncDirectory(place.directory)
      return now?.ino === before.ino && now.mtimeNs === before.mtimeNs ? now : before
    },
    discard
  }
}

/** Only root may give a file away; to others the owner stays who writes, as with any editor. */
async function takeOver (handle: FileHandle, { mode, uid, gid }: FileStanding): Promise<void> {
  const taken = await given(handle, uid, gid) || await given(handle, (await handle.stat()).uid, gid)
  await handle.chmod(taken ? plainMode(mode) : withoutGroup(plainMode(mode)))
}

async function given (handle: FileHandle, uid: number, gid: number): Promise<boolean> {
  return await handle.chown(uid, gid).then(() => true, (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPERM') throw error
    return false
  })
}

/** Rights of the old group aren't for the new one, beyond what all others may. */
function withoutGroup (mode: number): number {
  return mode & (0o707 | ((mode & 0o007) << 3))
}

/** A rename is on disk when its directory is. */
async function syncDirectory (directory: Directory): Promise<void> {
  const handle = await open(entryPath(directory, '.'), constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
