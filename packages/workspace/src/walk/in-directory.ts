import { WorkspaceFailure } from '../failure/failure.ts'
import type { Directory } from './directory.ts'
import type { Place } from './place.ts'
import { directoryAt } from './walk-way.ts'

/**
 * Hands the directory that a place is to `use`, open until that ends.
 *
 * @param what the argument that named the place
 * @throws WorkspaceFailure `<what> is not a directory`, also when it was replaced since it was looked up.
 */
export async function inDirectory<T> (place: Place, what: string, use: (directory: Directory) => Promise<T>): Promise<T> {
  const directory = place.stats?.isDirectory() === true ? directoryAt(place.directory, place.name) : undefined
  if (directory === undefined) throw new WorkspaceFailure(`${what} is not a directory`)
  try {
    return await use(directory)
  } finally {
    directory.handle.close()
  }
}
