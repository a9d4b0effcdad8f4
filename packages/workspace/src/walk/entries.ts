import { opendirSync, type Dir, type Dirent } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { entryPath, type Directory } from './directory.ts'
import { nameText } from './name-text.ts'

export interface DirectoryEntry {
  name: string
  dirent: Dirent
}

/** Node's types don't know that a directory can be read as bytes, one entry at a time. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion
const encoding = 'buffer' as BufferEncoding

/** The entries of an open directory; `bufferSize` of them are in memory at a time. */
export async function * readEntries (directory: Directory, bufferSize: number): AsyncGenerator<DirectoryEntry> {
  for await (const dirent of await opendir(entryPath(directory, '.'), { bufferSize, encoding })) yield { name: nameIn(dirent), dirent }
}

/** The same at once, for who looks at the time between them. */
export function * readEntriesSync (directory: Directory, bufferSize: number): Generator<DirectoryEntry> {
  const entries: Dir = opendirSync(entryPath(directory, '.'), { bufferSize, encoding })
  try {
    for (let dirent = entries.readSync(); dirent !== null; dirent = entries.readSync()) yield { name: nameIn(dirent), dirent }
  } finally {
    entries.closeSync()
  }
}

function nameIn (dirent: Dirent): string {
  // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- See `encoding`.
  return nameText(dirent.name as unknown as Buffer)
}
