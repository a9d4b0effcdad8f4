import { constants } from 'node:fs'
import { open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { BuiltinFailure } from './handler.ts'

/** A file or directory of the workspace, with every symbolic link resolved. */
export interface WorkspacePath {
  /** The workspace itself, resolved. */
  root: string
  absolute: string
  /** From the workspace, with `/`; `.` for the workspace itself. */
  relative: string
}

/** Errors of a path that leads nowhere, whatever the reason. */
const missing = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE'])

/**
 * Resolves a path as a caller wrote it, relative to the workspace or absolute inside it (B29).
 *
 * @throws BuiltinFailure `path escapes workspace root` for a path or a link that leaves the workspace, or `notFound`.
 */
export async function resolveInWorkspace (workspaceDir: string, path: string, notFound: string): Promise<WorkspacePath> {
  const root = await realpath(workspaceDir)
  const wanted = isAbsolute(path) && isInside(workspaceDir, path) ? resolve(root, relative(workspaceDir, path)) : resolve(root, path)
  // Before the file system is asked: what exists outside is nobody's business.
  if (!isInside(root, wanted)) throw escape()
  const absolute = await resolveLinks(wanted, notFound)
  if (!isInside(root, absolute)) throw escape()
  return { root, absolute, relative: workspaceRelative(root, absolute) }
}

/** A path below `root` as callers see it. */
export function workspaceRelative (root: string, absolute: string): string {
  return relative(root, absolute).replaceAll(sep, '/') || '.'
}

/** What was opened, and a path that leads to it and to nothing else. */
export interface OpenedPath {
  handle: FileHandle
  path: string
}

/**
 * Opens what `resolveInWorkspace` returned, read-only, and makes sure that it is still inside: a tool may have put a
 * link in its place since. The caller closes the handle.
 */
export async function openInWorkspace ({ root, absolute }: Pick<WorkspacePath, 'root' | 'absolute'>): Promise<OpenedPath> {
  // O_NONBLOCK: the open of a FIFO would wait for a writer.
  const handle = await open(absolute, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const descriptor = `/proc/self/fd/${handle.fd}`
    const opened = await readlink(descriptor).catch(() => undefined)
    if (!isInside(root, opened ?? await confirmedPath(handle, absolute))) throw escape()
    return { handle, path: opened === undefined ? absolute : descriptor }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Where the kernel doesn't tell what was opened: the path, resolved again, if it still leads to the same file. */
async function confirmedPath (handle: FileHandle, absolute: string): Promise<string> {
  const real = await realpath(absolute)
  const [opened, named] = await Promise.all([handle.stat(), stat(real)])
  if (opened.dev !== named.dev || opened.ino !== named.ino) throw escape()
  return real
}

async function resolveLinks (path: string, notFound: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (missing.has((error as NodeJS.ErrnoException).code ?? '')) throw new BuiltinFailure(notFound)
    throw error
  }
}

/** By path elements: `..hidden` is a name like any other. */
function isInside (root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function escape (): BuiltinFailure {
  return new BuiltinFailure('path escapes workspace root')
}
