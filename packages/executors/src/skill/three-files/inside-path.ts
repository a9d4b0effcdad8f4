import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { errorCode } from '@toolyard/contract/terms'
import { isWithin } from '@toolyard/sandbox'
import { failure, type Failure } from '../../run/outcome.ts'

/** Where the files of a call are, and where its processes see them. */
export interface FilePlaces {
  /** Absolute path of the workspace, or of the session's directory. */
  real: string
  /** The same, as processes see it. */
  seen: string
}

/** A path inside the workspace, without links: as processes see it, and where it is. */
export interface InsidePath {
  ok: true
  seen: string
  real: string
}

const mostChars = 4_096

/**
 * Where a path of a call leads, which may not be there yet. A link out of the workspace is refused; what a tool puts in
 * its place after that leads nowhere in a box.
 */
export async function insidePath (param: string, path: string, places: FilePlaces): Promise<InsidePath | Failure> {
  const refused = failure('NOT_ALLOWED', `parameter ${param} must be a path inside the workspace: ${JSON.stringify(path.slice(0, 200))}`)
  if (path.length > mostChars || path.includes('\0')) return refused
  const written = isAbsolute(path) ? relative(places.seen, path) : path
  const top = await realpath(places.real)
  const wanted = resolve(top, written)
  if (isAbsolute(written) || !isWithin(wanted, top)) return refused
  const real = await withoutLinks(wanted)
  return real === undefined || !isWithin(real, top) ? refused : { ok: true, real, seen: join(places.seen, relative(top, real)) }
}

/** The real path of what is there, and the names behind it; undefined where a link leads nowhere. */
async function withoutLinks (path: string): Promise<string | undefined> {
  const behind: string[] = []
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(await realpath(at), ...behind)
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') return undefined
      if (at === dirname(at) || await lstat(at).then(() => true, () => false)) return undefined
      behind.unshift(basename(at))
    }
  }
}

/** Refuses a path that leads elsewhere, in a value that is no path of the format. */
export function pathLikeFault (param: string, text: string): Failure | undefined {
  const what = /^\/(?!\/)/.test(text)
    ? 'an absolute path'
    : text.startsWith('~')
      ? 'a path in a home directory'
      : /^file:\/\//i.test(text) ? 'a file:// URL' : /(?:^|[/\\])\.\.(?:[/\\]|$)/.test(text) ? 'a path with ".."' : undefined
  return what === undefined ? undefined : failure('NOT_ALLOWED', `parameter ${param} is ${what}, and is no path of this tool (readPath, writePath or unsafePath)`)
}
