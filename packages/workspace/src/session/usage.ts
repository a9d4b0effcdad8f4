import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '@toolyard/contract/terms'

/** What an entry takes at least: even an empty file is one. */
const leastBytes = 512
const blockBytes = 512

/**
 * The bytes of the disk that the files of a directory take, counted until they are more than `most`. A tree whose paths are too
 * long to be followed takes more than anything.
 */
export async function usageOf (dir: string, most: number): Promise<{ bytes: number, entries: number }> {
  let [bytes, entries] = [0, 0]
  const rest = [dir]
  const seen = new Set<string>()
  for (let at = rest.pop(); at !== undefined && bytes <= most; at = rest.pop()) {
    try {
      for await (const entry of await opendir(at, { bufferSize: 64 })) {
        const path = join(at, entry.name)
        entries += 1
        const { blocks, nlink, dev, ino } = await lstat(path)
        if (entry.isDirectory()) rest.push(path)
        else if (nlink > 1 && seen.size === seen.add(`${dev}:${ino}`).size) continue
        bytes += Math.max(leastBytes, blocks * blockBytes)
        if (bytes > most) return { bytes, entries }
      }
    } catch (error) {
      const code = errorCode(error)
      if (code === 'ENAMETOOLONG') return { bytes: Infinity, entries }
      // It is gone by now, or nobody may read it, who may not write to it either.
      if (code !== 'ENOENT' && code !== 'ENOTDIR' && code !== 'EACCES') throw error
    }
  }
  return { bytes, entries }
}
