import { realpathSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { orElse } from '@toolyard/contract/terms'

/**
 * Why directories of the settings can't lie where they are. In the workspace the tools of all tenants would reach the sessions of
 * each.
 */
export function placeProblems (settings: { WORKSPACE_DIR: string, SESSIONS_DIR: string | undefined }): string[] {
  const { WORKSPACE_DIR: workspace, SESSIONS_DIR: sessions } = settings
  const dir = sessions ?? join(dirname(workspace), 'sessions')
  if (!`${realPlace(dir)}${sep}`.startsWith(realPlace(workspace).replace(/\/?$/, sep))) return []
  return [`SESSIONS_DIR must not lie in WORKSPACE_DIR, where calls without a session would reach the files of all sessions: ${dir} is in ${workspace}`]
}

/** Where a path leads, whether it is there or not. */
function realPlace (path: string): string {
  const parent = dirname(path)
  return orElse(() => realpathSync(path), undefined) ?? (parent === path ? path : join(realPlace(parent), basename(path)))
}
