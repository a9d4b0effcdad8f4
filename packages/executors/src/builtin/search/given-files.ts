import { closeSync } from 'node:fs'
import { isOwnName } from '../workspace/own-names.ts'
import { isServiceName, type ServiceFiles } from '../workspace/service-files.ts'
import { FileText } from './file-text.ts'
import { openChild, openPath, type OpenDirectory } from './tree-walk.ts'

/** Opens a file by its path from an open directory, never by a link; undefined for what can't be opened, or isn't to be. */
export function openGivenFile (base: OpenDirectory, file: string, { buffer, service }: { buffer: Buffer, service: ServiceFiles }): FileText | undefined {
  const names = file.split('/')
  const opened: OpenDirectory[] = []
  if (names.some(isOwnName)) return undefined
  try {
    for (const name of names.slice(0, -1)) opened.push(openChild(opened.at(-1) ?? base, name, service))
    const directory = opened.at(-1) ?? base
    const name = names.at(-1) ?? ''
    return isServiceName(name, directory.taken) ? undefined : FileText.open(openPath(directory, name), buffer, service)
  } catch {
    return undefined
  } finally {
    for (const { fd } of opened) closeSync(fd)
  }
}
