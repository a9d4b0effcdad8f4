import { errorCode } from '@toolyard/contract/terms'
import { WorkspaceFailure } from '../failure/failure.ts'
import { openDirectory, type Directory } from './directory.ts'
import type { Place } from './place.ts'

/**
 * Hands the directory that a place is to `use`, open until that ends.
 *
 * @param what the argument that named the place
 * @throws WorkspaceFailure `<what> is not a directory`, also when it was replaced since it was looked up.
 */
export async function inDirectory<T> (place: Place, what: string, use: (directory: Directory) => Promise<T>): Promise<T> {
  const directory = opened(place)
  if (directory === undefined) throw new WorkspaceFailure(`${what} is not a directory`)
  try {
    return await use(directory)
  } finally {
    directory.handle.close()
  }
}

function opened ({ directory, name, stats }: Place): Directory | undefined {
  if (stats?.isDirectory() !== true) return undefined
  try {
    return openDirectory(directory, name)
  } catch (error) {
    const code = errorCode(error)
    if (code !== 'ENOTDIR' && code !== 'ELOOP') throw error
    return undefined
  }
}
