import { closeSync } from 'node:fs'
import { findWay, isServiceName, walkAtOnce, type ServiceFiles } from '@toolyard/workspace'
import { FileText } from './file-text.ts'
import { openRoot } from './walk/name-search.ts'
import type { SearchTask } from './walk/task.ts'
import { openChild, openPath, type OpenDirectory } from './walk/tree-walk.ts'

/**
 * The paths from the workspace of files that a caller names, each once. They are searched whatever their names.
 *
 * @throws BuiltinFailure for one that isn't there.
 */
export function givenPaths (task: SearchTask, files: readonly string[], service: ServiceFiles): string[] {
  const root = openRoot(task, service)
  try {
    return [...new Set(files.map(file => {
      const { directory, names } = walkAtOnce(findWay(root, file, { notFound: `file not found: ${file}` }))
      if (directory !== root) directory.handle.close()
      return names.join('/') || '.'
    }))]
  } finally {
    root.handle.close()
  }
}

/** Opens a file by its path from an open directory, never by a link; undefined for what can't be opened, or isn't to be. */
export function openGivenFile (
  base: OpenDirectory, file: string, { buffer, service }: { buffer: Buffer, service: ServiceFiles }
): FileText | undefined {
  const names = file.split('/')
  const opened: OpenDirectory[] = []
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
