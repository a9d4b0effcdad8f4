import { closeSync } from 'node:fs'
import { isServiceName, type ServiceFiles } from '@toolyard/workspace'
import { readIgnoreFile } from './ignore-rules.ts'
import type { IgnoreRules, SearchTask } from './task.ts'
import { openChild, openPath, type OpenDirectory } from './tree-walk.ts'

/** The rules of the directories above the base, from the workspace down; those that can be read. */
export function rulesAbove ({ base, root }: Pick<SearchTask, 'base' | 'root'>, service: ServiceFiles): IgnoreRules[] {
  const names = base === '.' ? [] : base.split('/')
  const workspace: OpenDirectory = { fd: root.fd, absolute: root.paths[0] ?? '', taken: service.namesIn(root.fd) }
  const rules: IgnoreRules[] = []
  let here = workspace
  try {
    for (const [depth, name] of names.entries()) {
      const text = isServiceName('.gitignore', here.taken) ? undefined : readIgnoreFile(openPath(here, '.gitignore'))
      if (text !== undefined) rules.push({ directory: names.slice(0, depth).join('/'), text })
      // The base itself is looked into by the walk.
      if (depth === names.length - 1) break
      const above = here
      here = openChild(above, name, service)
      if (above !== workspace) closeSync(above.fd)
    }
  } catch {
    // Somebody has moved the directories meanwhile: what was found holds.
  } finally {
    if (here !== workspace) closeSync(here.fd)
  }
  return rules
}
