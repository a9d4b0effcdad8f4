import { realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { orElse } from '@toolyard/contract/terms'

/** Directories that are made where they are missing. */
interface Places {
  WORKSPACE_DIR: string
  SESSIONS_DIR: string | undefined
  AUDIT_DIR: string
}

/**
 * Why directories of the settings can't lie where they are. In the workspace the tools of all tenants would reach the sessions of
 * each.
 */
export function placeProblems ({ WORKSPACE_DIR: workspace, SESSIONS_DIR: sessions, AUDIT_DIR: audit }: Places): string[] {
  const places = Object.entries({ WORKSPACE_DIR: workspace, SESSIONS_DIR: sessions, AUDIT_DIR: audit })
  return [...places.flatMap(([name, dir]) => dir === undefined ? [] : inTheWay(name, dir)), ...sessionsWithin(workspace, sessions)]
}

/** A file has the place of a directory, or of one above it. */
function inTheWay (name: string, dir: string): string[] {
  const there = firstThere(dir)
  return there.isDirectory ? [] : [`${name} must be a directory, or one that can be made: ${there.path} is a file`]
}

/** A path, or the nearest one above it that can be looked at. */
function firstThere (path: string): { path: string, isDirectory: boolean } {
  const found = orElse(() => statSync(path), undefined)
  const parent = dirname(path)
  if (found === undefined && parent !== path) return firstThere(parent)
  return { path, isDirectory: found?.isDirectory() !== false }
}

function sessionsWithin (workspace: string, sessions: string | undefined): string[] {
  const dir = sessions ?? join(dirname(workspace), 'sessions')
  if (!`${realPlace(dir)}${sep}`.startsWith(realPlace(workspace).replace(/\/?$/, sep))) return []
  return [`SESSIONS_DIR must not lie in WORKSPACE_DIR, where calls without a session would reach the files of all sessions: ${dir} is in ${workspace}`]
}

/** Where a path leads, whether it is there or not. */
function realPlace (path: string): string {
  const parent = dirname(path)
  return orElse(() => realpathSync(path), undefined) ?? (parent === path ? path : join(realPlace(parent), basename(path)))
}
