import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { isAbsolute } from 'node:path'
import { BuiltinFailure } from '../kit/handler.ts'
import { entryPath, openDirectory, type Directory, type Workspace } from './directory.ts'
import { isServiceName, refusal } from './service-files.ts'
import { wayInto } from './way.ts'

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
/** More names than a path of the kernel can have: links that lead through each other hold nobody up. */
const maxSteps = 2_048
/** Errors of a name that leads nowhere, whatever the reason. */
const nowhere = new Set(['ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE'])

/**
 * Follows names from the workspace as the kernel would, one at a time: each directory is opened through the one above,
 * links are read and their text is followed in the same way, `..` goes back to what was entered before. So each step
 * begins inside and ends inside, or the walk fails.
 */
export function walkWay (root: Workspace, way: readonly string[], options: WalkOptions): Walked {
  const entered: Entered[] = [{ directory: root, name: '', taken: root.service.namesIn(root.handle.fd) }]
  const names = (): string[] => entered.slice(1).map(({ name }) => name)
  if (way.length > maxSteps) throw new BuiltinFailure(options.notFound)
  let rest = [...way]
  for (let links = 0, steps = 0; ; steps++) {
    if (steps > maxSteps) throw new BuiltinFailure(options.notFound)
    const { directory: here, taken } = entered.at(-1) ?? { directory: root, taken: [] }
    const name = rest.shift()
    if (name === undefined) return { directory: here, names: names(), missing: [], stats: { of: here.handle.stat(), here: true } }
    if (name === '..') {
      if (entered.length === 1) throw escape()
      entered.pop()
      continue
    }
    if (isServiceName(name, taken)) throw refusal()
    const step = told(options.notFound, () => takeStep(here, name, rest.length === 0, options))
    if (step.kind === 'missing') return { directory: here, names: names(), missing: missingNames([name, ...rest], options), stats: { of: undefined, here: false } }
    if (step.kind === 'end' && root.service.has(entryPath(here, name), step.stats)) throw refusal()
    if (step.kind === 'end') return { directory: here, names: [...names(), name], missing: [], stats: { of: step.stats, here: false } }
    if (step.kind === 'directory') {
      options.opened.add(step.directory)
      entered.push({ directory: step.directory, name, taken: root.service.namesIn(step.directory.handle.fd) })
      continue
    }
    links += 1
    if (links > maxLinks) throw new BuiltinFailure(options.notFound)
    if (isAbsolute(step.target)) entered.length = 1
    rest = [...linkWay(root, step.target), ...rest]
  }
}

interface Entered {
  directory: Directory
  name: string
  /** The names in it that are the service's. */
  taken: readonly string[]
}

type Step =
  | { kind: 'missing' }
  | { kind: 'end', stats: Stats }
  | { kind: 'directory', directory: Directory }
  | { kind: 'link', target: string }

function takeStep (here: Directory, name: string, last: boolean, { keepLink }: WalkOptions): Step {
  const path = entryPath(here, name)
  try {
    if (last) {
      const stats = lstatSync(path)
      if (!stats.isSymbolicLink() || keepLink) return { kind: 'end', stats }
    } else {
      const directory = directoryAt(here, name)
      if (directory !== undefined) return { kind: 'directory', directory }
    }
    return { kind: 'link', target: readlinkSync(path) }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return { kind: 'missing' }
    // readlink: neither a directory nor a link stands where the way goes on.
    if (code === 'EINVAL') throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR' })
    throw error
  }
}

/** Undefined when something else is there. */
function directoryAt (here: Directory, name: string): Directory | undefined {
  try {
    return openDirectory(here, name)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'ENOTDIR' && code !== 'ELOOP') throw error
    return undefined
  }
}

/** The names that a link stands for: from its own directory, or from the workspace when it is absolute. */
function linkWay ({ paths }: Workspace, target: string): string[] {
  if (!isAbsolute(target)) return target.split('/').filter(name => name !== '' && name !== '.')
  const way = wayInto(paths, target)
  if (way === undefined) throw escape()
  return way
}

function missingNames (names: string[], { notFound }: WalkOptions): string[] {
  if (names.includes('..')) throw new BuiltinFailure(notFound)
  return names
}

function told<T> (notFound: string, step: () => T): T {
  try {
    return step()
  } catch (error) {
    if (nowhere.has((error as NodeJS.ErrnoException).code ?? '')) throw new BuiltinFailure(notFound)
    throw error
  }
}

/** What is told of whatever lies outside; that it exists is not. */
export function escape (): BuiltinFailure {
  return new BuiltinFailure('path escapes workspace root')
}
