import { constants } from 'node:fs'
import { WorkspaceFailure } from '../failure/failure.ts'
import { Descriptor } from './descriptor.ts'
import { entryPath } from './directory.ts'
import type { Place } from './place.ts'
import { refusal } from '../service/service-files.ts'

/** Opens the regular file of a place for reading; the caller closes it. @throws WorkspaceFailure `path is not a file`. */
export function openFile (
  { root, directory, name, stats }: Place
): { handle: Descriptor, size: number, mode: number, uid: number, gid: number } {
  // Before the open, which by itself may do something to a device.
  if (stats?.isFile() !== true) throw notAFile()
  // O_NONBLOCK: the open of a FIFO would wait for a writer.
  const handle = new Descriptor(entryPath(directory, name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const opened = handle.stat()
    if (!opened.isFile()) throw notAFile()
    if (root.service.hasOpen(handle.fd, opened)) throw refusal()
    return { handle, size: opened.size, mode: opened.mode, uid: opened.uid, gid: opened.gid }
  } catch (error) {
    handle.close()
    throw error
  }
}

/** Reads from a place in a file until `length` bytes are there or the file ends: one read may return less. */
export async function readFully (handle: Descriptor, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const bytes = await handle.read(buffer, filled, length - filled, position + filled)
    if (bytes === 0) break
    filled += bytes
  }
  return buffer.subarray(0, filled)
}

function notAFile (): WorkspaceFailure {
  return new WorkspaceFailure('path is not a file')
}
