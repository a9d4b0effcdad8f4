import { createHash } from 'node:crypto'
import { filePieces } from '../document/manifest-file.ts'

/** As sha256sum(1) prints a digest. */
export const digestPattern = '^[0-9a-fA-F]{64}$'

/** Whether a file is not the one that a manifest pinned; false when it can't be read, which is another fault. */
export async function isOtherThanPinned (file: string, sha256: string): Promise<boolean> {
  try {
    const hash = createHash('sha256')
    for await (const piece of filePieces(file)) hash.update(piece)
    return hash.digest('hex') !== sha256.toLowerCase()
  } catch {
    return false
  }
}
