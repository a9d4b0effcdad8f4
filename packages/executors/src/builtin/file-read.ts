import { stat, type FileHandle } from 'node:fs/promises'
import { decodePrefix } from '../result/utf8.ts'
import { integerArgument } from './arguments.ts'
import { BuiltinFailure, type BuiltinHandler } from './handler.ts'
import { openInWorkspace, resolveInWorkspace, type WorkspacePath } from './workspace-path.ts'

const maxBytes = { min: 512, max: 1_048_576, default: 262_144 }

/**
 * `data.file_read` (R7, R47, RC36): the start of a text file of the workspace, at most `max_bytes` bytes and never cut
 * inside a character. Returns `{ok, path, truncated, bytes_read, total_bytes, content_text}`, sizes in bytes.
 */
export const readWorkspaceFile: BuiltinHandler = async (args, { workspaceDir, signal }) => {
  if (typeof args['path'] !== 'string' || args['path'].trim() === '') throw new BuiltinFailure('path is required')
  const path = await resolveInWorkspace(workspaceDir, args['path'], 'file not found')
  signal.throwIfAborted()
  const { bytes, totalBytes } = await readStart(path, integerArgument(args['max_bytes'], maxBytes))
  const content = bytes.length < totalBytes ? decodePrefix(bytes) : { text: bytes.toString('utf8'), bytes: bytes.length }
  return {
    ok: true,
    path: path.relative,
    truncated: content.bytes < totalBytes,
    bytes_read: content.bytes,
    total_bytes: totalBytes,
    content_text: content.text
  }
}

async function readStart (path: WorkspacePath, limit: number): Promise<{ bytes: Buffer, totalBytes: number }> {
  // Before the open, which by itself may do something to a device.
  if (!(await stat(path.absolute)).isFile()) throw notAFile()
  const { handle } = await openInWorkspace(path)
  try {
    const status = await handle.stat()
    if (!status.isFile()) throw notAFile()
    return { bytes: await readFully(handle, Math.min(limit, status.size)), totalBytes: status.size }
  } finally {
    await handle.close()
  }
}

/** One read may return less than was asked for. */
async function readFully (handle: FileHandle, size: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(size)
  let length = 0
  while (length < size) {
    const { bytesRead } = await handle.read(buffer, length, size - length, length)
    if (bytesRead === 0) break
    length += bytesRead
  }
  return buffer.subarray(0, length)
}

function notAFile (): BuiltinFailure {
  return new BuiltinFailure('path is not a file')
}
