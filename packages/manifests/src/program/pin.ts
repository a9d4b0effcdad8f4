import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'

/** As sha256sum(1) prints a digest. */
export const digestPattern = '^[0-9a-fA-F]{64}$'

/** Whether a file is not the one that a manifest pinned; false when it can't be read, which is another fault. */
export async function isOtherThanPinned (file: string, sha256: string): Promise<boolean> {
  try {
    // Opening a pipe would wait for a writer.
    if (!(await stat(file)).isFile()) return false
    const hash = createHash('sha256')
    const chunks: AsyncIterable<Buffer> = createReadStream(file)
    for await (const chunk of chunks) hash.update(chunk)
    return hash.digest('hex') !== sha256.toLowerCase()
  } catch {
    return false
  }
}
