import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { MappedValue, SkillExecution } from '@toolyard/manifests'
import { isWithin, type WorkspacePart } from '@toolyard/sandbox'
import { pathsOf } from './choose.ts'
import type { InsidePath } from './inside-path.ts'

/** The file of an argument; for one that is written and isn't there yet, the directory that it comes into. */
export async function partOf ({ kind, path }: MappedValue, { seen, real }: InsidePath): Promise<WorkspacePart> {
  const isThere = await stat(real).then(() => true, () => false)
  // A program may write where it runs.
  return { place: path === 'write' && !isThere ? dirname(seen) : seen, writable: path === 'write' || kind === 'workingdir' }
}

/**
 * All that a program is shown of the workspace: what its arguments name, and where it runs. Undefined where an execution
 * names no paths, or the workspace as a whole.
 */
export function shownParts (
  execution: SkillExecution, parts: readonly WorkspacePart[], { cwd, workspace }: { cwd: string, workspace: string }
): WorkspacePart[] | undefined {
  const paths = pathsOf(execution)
  const runsInWorkspace = cwd === workspace && execution.args.some(({ kind }) => kind === 'workingdir')
  if (paths.length === 0 || paths.includes('any') || runsInWorkspace) return undefined
  const shown = outer(parts)
  return shown.some(({ place }) => place === workspace) ? undefined : shown
}

/** Nothing is mounted in what a tool may fill with links: the outer of two places is shown, with what both need. */
function outer (parts: readonly WorkspacePart[]): WorkspacePart[] {
  const shown: WorkspacePart[] = []
  for (const part of parts.toSorted((a, b) => a.place.length - b.place.length)) {
    const around = shown.find(({ place }) => isWithin(part.place, place))
    if (around === undefined) shown.push({ ...part })
    else around.writable ||= part.writable
  }
  return shown
}

export async function isDirectory (path: string): Promise<boolean> {
  return await stat(path).then(found => found.isDirectory(), () => false)
}
