import { constants } from 'node:fs'
import { open, rename, unlink, type FileHandle } from 'node:fs/promises'
import { entryPath, type Directory } from './directory.ts'
import { temporaryName } from './own-names.ts'

/** Owner and permissions that the new file takes over. */
export interface FileStanding {
  mode: number
  uid: number
  gid: number
}

/**
 * Puts a file with this content in the place of `name`, so that every reader, also after a crash, sees the whole of the
 * old one or the whole of the new one. Permissions and owner are those of `standing`, where it may give them.
 */
export async function replaceFile (directory: Directory, name: string, content: Uint8Array, standing: FileStanding | undefined): Promise<void> {
  const temporary = entryPath(directory, temporaryName())
  const handle = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, standing === undefined ? 0o666 : 0o600)
  try {
    await handle.writeFile(content)
    if (standing !== undefined) await takeOver(handle, standing)
    await handle.sync()
    await rename(temporary, entryPath(directory, name))
  } catch (error) {
    await unlink(temporary).catch(() => {})
    throw error
  } finally {
    await handle.close()
  }
  await syncDirectory(directory)
}

async function takeOver (handle: FileHandle, { mode, uid, gid }: FileStanding): Promise<void> {
  // Only root may give a file away; to others the owner stays who writes, as with any editor.
  await handle.chown(uid, gid).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPERM') throw error
  })
  await handle.chmod(mode & 0o7777)
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
