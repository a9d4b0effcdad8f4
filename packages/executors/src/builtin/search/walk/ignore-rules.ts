import { closeSync, constants, fstatSync, openSync, readSync, type PathLike } from 'node:fs'
import ignore, { type Ignore } from 'ignore'
import type { IgnoreRules } from './task.ts'

const maxBytes = 1_048_576

/** The rules of one directory, and of those above it. */
export interface IgnoreScope {
  /** Whether an entry below is ignored; `path` is from the workspace. The rules nearest to it decide. */
  ignores (path: string, isDirectory: boolean): boolean
}

/** Adds the rules of a directory to those above it; the same scope when it has none. */
export function innerScope (outer: IgnoreScope | undefined, rules: IgnoreRules | undefined): IgnoreScope | undefined {
  if (rules === undefined) return outer
  const matcher: Ignore = ignore({ ignorecase: false }).add(rules.text)
  const prefix = rules.directory === '' ? 0 : rules.directory.length + 1
  return {
    ignores (path, isDirectory) {
      const { ignored, unignored } = matcher.test(path.slice(prefix) + (isDirectory ? '/' : ''))
      return ignored || (!unignored && outer?.ignores(path, isDirectory) === true)
    }
  }
}

/** The rules above a base, from the workspace down; none when they ignore the base, since it was asked for by name. */
export function scopeAbove (rules: readonly IgnoreRules[], base: string): IgnoreScope | undefined {
  const scope = rules.reduce<IgnoreScope | undefined>(innerScope, undefined)
  return base !== '.' && scope?.ignores(base, true) === true ? undefined : scope
}

/** Reads the `.gitignore` at a path that is safe to open; undefined when there is none. */
export function readIgnoreFile (path: PathLike): string | undefined {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      if (!fstatSync(fd).isFile()) return undefined
      const buffer = Buffer.allocUnsafe(Math.min(maxBytes, fstatSync(fd).size))
      return buffer.toString('utf8', 0, readSync(fd, buffer))
    } finally {
      closeSync(fd)
    }
  } catch {
    return undefined
  }
}
