import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { isAbsolute } from 'node:path'
import { errorCode } from '@toolyard/contract/terms'
import { WorkspaceFailure } from '../failure/failure.ts'
import { entryPath, openDirectory, type Directory, type Workspace } from './directory.ts'
import { isOwnName } from '../service/own-names.ts'
import { isServiceName, refusal } from '../service/service-files.ts'
import { nameText } from './name-text.ts'
import { wayInto } from './way.ts'

export interface Walked {
  /** The last directory that was entered; the caller closes it, unless it is the workspace. */
  directory: Directory
  /** From the workspace to what is there, without links. */
  names: readonly string[]
  /** The names that lead on from there to what doesn't exist; empty when all of it does. */
  missing: readonly string[]
  /** `here` when it is the directory itself. */
  stats: { of: Stats | undefined, here: boolean }
}

interface WalkOptions {
  keepLink: boolean
  notFound: string
}

/** Levels below the workspace that a path may have: a walk keeps each of them open. */
const maxLevels = 64
/** As many as Linux follows. */
const maxLinks = 40
/** Names that are looked up for one path, those of links too: links that lead through each other hold nobody up. */
const maxSteps = 1_024
/** Names that are looked up in one turn of the event loop. */
const stepsAtOnce = 16
/** Errors of a name that leads nowhere, whatever the reason. */
const nowhere = new Set(['ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE'])

/**
 * Follows names from the workspace as the kernel would, one at a time: each directory is opened through the one above,
 * links are read and their text is followed in the same way, `..` goes back to what was entered before. So each step
 * begins inside and ends inside, or the walk fails. It yields where the event loop may turn; whoever gives it up there
 * calls `return`, which closes what is open.
 */
export function * walkWay (root: Workspace, way: readonly string[], options: WalkOptions): Generator<void, Walked> {
  const entered: Entered[] = [{ directory: root, name: '', taken: root.taken() }]
  let result: Walked | undefined
  try {
    result = yield * walkFrom(entered, root, { way, options })
    return result
  } finally {
    leave(entered, result?.directory)
  }
}

/** Does a walk to its end, for a thread. */
export function walkAtOnce (walk: Generator<void, Walked>): Walked {
  for (;;) {
    const { done, value } = walk.next()
    if (done === true) return value
  }
}

function * walkFrom (
  entered: Entered[], root: Workspace, { way, options }: { way: readonly string[], options: WalkOptions }
): Generator<void, Walked> {
  const names = (): string[] => entered.slice(1).map(({ name }) => name)
  if (way.length > maxLevels) throw tooDeep()
  let rest = [...way]
  for (let links = 0, steps = 0; ; steps++) {
    if (steps + rest.length > maxSteps) throw new WorkspaceFailure(options.notFound)
    if (steps > 0 && steps % stepsAtOnce === 0) yield
    const { directory: here, taken } = entered.at(-1) ?? { directory: root, taken: [] }
    const name = rest.shift()
    if (name === undefined) return { directory: here, names: names(), missing: [], stats: { of: here.handle.stat(), here: true } }
    if (name === '..') {
      if (entered.length === 1) throw escape()
      leave(entered.splice(-1))
      continue
    }
    if (isServiceName(name, taken)) throw refusal()
    if (entered.length > maxLevels) throw tooDeep()
    const step = orNotFound(options.notFound, () => takeStep(here, name, rest.length === 0, options))
    if (isFileInTheMaking(name, step)) throw refusal()
    if (step.kind === 'missing') return { directory: here, names: names(), missing: missingNames([name, ...rest], entered.length - 1, options), stats: { of: undefined, here: false } }
    if (step.kind === 'end' && root.service.has(entryPath(here, name), step.stats)) throw refusal()
    if (step.kind === 'end') return { directory: here, names: [...names(), name], missing: [], stats: { of: step.stats, here: false } }
    if (step.kind === 'directory') {
      const inside: Entered = { directory: step.directory, name, taken: [] }
      // First it is known as open: the next line throws for a directory of the service.
      entered.push(inside)
      inside.taken = root.service.namesIn(step.directory.handle.fd)
      continue
    }
    links += 1
    if (links > maxLinks) throw new WorkspaceFailure(options.notFound)
    if (isAbsolute(step.target)) leave(entered.splice(1))
    rest = [...linkWay(root, step.target), ...rest]
  }
}

/** Closes directories of a walk, but not the workspace. */
function leave (entered: readonly Entered[], kept?: Directory): void {
  for (const { directory, name } of entered) {
    if (name !== '' && directory !== kept) directory.handle.close()
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

/** A tool may give such a name to a directory, which is one like any other. */
function isFileInTheMaking (name: string, step: Step): boolean {
  return isOwnName(name) && step.kind !== 'directory' && !(step.kind === 'end' && step.stats.isDirectory())
}

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
    return { kind: 'link', target: nameText(readlinkSync(path, 'buffer')) }
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT') return { kind: 'missing' }
    // readlink: neither a directory nor a link stands where the way goes on.
    if (code === 'EINVAL') throw Object.assign(new Error('not a directory'), { code: 'ENOTDIR' })
    throw error
  }
}

/** Undefined when something else is there. */
export function directoryAt (here: Directory, name: string): Directory | undefined {
  try {
    return openDirectory(here, name)
  } catch (error) {
    const code = errorCode(error)
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

function missingNames (names: string[], levels: number, { notFound }: WalkOptions): string[] {
  if (names.includes('..')) throw new WorkspaceFailure(notFound)
  if (names.some(isOwnName)) throw refusal()
  if (levels + names.length > maxLevels) throw tooDeep()
  return names
}

function orNotFound<T> (notFound: string, step: () => T): T {
  try {
    return step()
  } catch (error) {
    if (nowhere.has(errorCode(error) ?? '')) throw new WorkspaceFailure(notFound)
    throw error
  }
}

function tooDeep (): WorkspaceFailure {
  return new WorkspaceFailure(`the path leads deeper than ${maxLevels} levels below the workspace`)
}

/** The same for all that lies outside; that it exists is not told. */
export function escape (): WorkspaceFailure {
  return new WorkspaceFailure('path escapes workspace root')
}
