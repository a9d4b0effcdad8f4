import { closeSync } from 'node:fs'
import { isOwnName } from '../workspace/own-names.ts'
import { FileText } from './file-text.ts'
import { openChild, openPath, type OpenDirectory } from './tree-walk.ts'

/** Opens a file by its path from an open directory, never by a link; undefined for what can't be opened, or isn't to be. */
export function openGivenFile (base: OpenDirectory, file: string, buffer: Buffer): FileText | undefined {
  const names = file.split('/')
  const opened: OpenDirectory[] = []
  if (names.some(isOwnName)) return undefined
  try {
    for (const name of names.slice(0, -1)) opened.push(openChild(opened.at(-1) ?? base, name))
    return FileText.open(openPath(opened.at(-1) ?? base, names.at(-1) ?? ''), buffer)
  } catch {
    return undefined
  } finally {
    for (const { fd } of opened) closeSync(fd)
  }
}
