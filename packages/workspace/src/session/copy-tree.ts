import { constants, lstatSync } from 'node:fs'
import { chmod, copyFile, mkdir, readlink, symlink } from 'node:fs/promises'
import { entryPath, openDirectory, type Directory } from '../walk/directory.ts'
import { readEntries } from '../walk/entries.ts'

/** Entries of a directory that are in memory at a time. */
const bufferSize = 64

/** Copies what is in a directory to an empty one: files, directories and links as they are, with their permissions. */
export async function copyTree (from: Directory, to: Directory): Promise<void> {
  for await (const { name, dirent } of readEntries(from, bufferSize)) {
    const [source, target] = [entryPath(from, name), entryPath(to, name)]
    if (dirent.isDirectory()) await copyDirectory(from, to, name)
    else if (dirent.isFile()) await copyFile(source, target, constants.COPYFILE_EXCL)
    else if (dirent.isSymbolicLink()) await symlink(await readlink(source, 'buffer'), target)
  }
}

async function copyDirectory (from: Directory, to: Directory, name: string): Promise<void> {
  const source = openDirectory(from, name)
  try {
    await mkdir(entryPath(to, name))
    const target = openDirectory(to, name)
    try {
      await copyTree(source, target)
    } finally {
      target.handle.close()
    }
    await chmod(entryPath(to, name), lstatSync(entryPath(from, name)).mode & 0o7777)
  } finally {
    source.handle.close()
  }
}
