import type { Stats } from 'node:fs'
import { lstat, readlink, realpath } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { BuiltinFailure } from '../handler.ts'
import { entryPath, openDirectory, type Directory } from './directory.ts'
import { wayInside } from './way.ts'

/** Where a walk ended. */
export interface Walked {
  /** The last directory that was entered. */
  directory: Directory
  /** From the workspace to what is there, without links. */
  names: readonly string[]
  /** The names that lead on from there to what doesn't exist; empty when all of it does. */
  missing: readonly string[]
  /** What is there; `here` when it is the directory itself. */
  stats: { of: Stats | undefined, here: boolean }
}

export interface WalkOptions {
  keepLink: boolean
  notFound: string
  /** Every directory that the walk opens is added, for the caller to close. */
  opened: Set<Directory>
}

/** As many as Linux follows. */
const maxLinks = 40
/** Errors of a name that leads nowhere, whatever the reason. */
const nowhere = new Set(['ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE'])

/**
 * Follows names from the workspace as the kernel would, one at a time: each directory is opened through the one above,
 * links are read and their text is followed in the same way, `..` goes back to what was entered before. So each step
 * begins inside and ends inside, or the walk fails.
 */
export async function walkWay (root: Directory, way: readonly string[], options: WalkOptions): Promise<Walked> {
  const entered = [{ directory: root, name: '' }]
  const names = (): string[] => entered.slice(1).map(({ name }) => name)
  let rest = [...way]
  for (let links = 0; ;) {
    const here = entered.at(-1)?.directory ?? root
    const name = rest.shift()
    if (name === undefined) return { directory: here, names: names(), missing: [], stats: { of: await here.handle.stat(), here: true } }
    if (name === '..') {
      if (entered.length === 1) throw escape()
      entered.pop()
      continue
    }
    const step = await told(options.notFound, () => takeStep(here, name, rest.length === 0, options))
    if (step.kind === 'missing') return { directory: here, names: names(), missing: missingNames([name, ...rest], options), stats: { of: undefined, here: false } }
    if (step.kind === 'end') return { directory: here, names: [...names(), name], missing: [], stats: { of: step.stats, here: false } }
    if (step.kind === 'directory') {
      options.opened.add(step.directory)
      entered.push({ directory: step.directory, name })
      continue
    }
    links += 1
    if (links > maxLinks) throw new BuiltinFailure(options.notFound)
    if (isAbsolute(step.target)) entered.length = 1
    rest = [...await linkWay(root, step.target), ...rest]
  }
}

type Step =
  | { kind: 'missing' }
  | { kind: 'end', stats: Stats }
  | { kind: 'directory', directory: Directory }
  | { kind: 'link', target: string }

async function takeStep (here: Directory, name: string, last: boolean, { keepLink }: WalkOptions): Promise<Step> {
  const path = entryPath(here, name)
  try {
    if (last) {
      const stats = await lstat(path)
      if (!stats.isSymbolicLink() || keepLink) return { kind: 'end', stats }
    } else {
      const directory = await openDirectory(here, name).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOTDIR' && error.code !== 'ELOOP') throw error
        return undefined
      })
      if (directory !== undefined) return { kind: 'directory', directory }
    }
    return { kind: 'link', target: await readlink(path) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return { kind: 'missing' }
    // readlink: neither a directory nor a link stands where the way goes on.
    if (code === 'EINVAL') throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR' })
    throw error
  }
}

/** The names that a link stands for: from its own directory, or from the workspace when it is absolute. */
async function linkWay (root: Directory, target: string): Promise<string[]> {
  if (!isAbsolute(target)) return target.split('/').filter(name => name !== '' && name !== '.')
  const way = wayInside(root.absolute, target) ?? wayInside(root.absolute, await realpath(target).catch(() => '/'))
  if (way === undefined) throw escape()
  return way
}

function missingNames (names: string[], { notFound }: WalkOptions): string[] {
  if (names.includes('..')) throw new BuiltinFailure(notFound)
  return names
}

async function told<T> (notFound: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    if (nowhere.has((error as NodeJS.ErrnoException).code ?? '')) throw new BuiltinFailure(notFound)
    throw error
  }
}

/** What is told of whatever lies outside; that it exists is not. */
export function escape (): BuiltinFailure {
  return new BuiltinFailure('path escapes workspace root')
}
