import { extname, isAbsolute, join } from 'node:path'
import { ManifestFault } from '../finding/finding.ts'
import { goQuote } from '../finding/go-quote.ts'

const binFix = 'Put the program below tools/bin beside the manifest and write ./tools/bin/NAME, or use an absolute path.'
const nameFix = 'A script is named alone, ./tools/bin/NAME, and its first line says what runs it, such as #!/usr/bin/env python3. Another program is named by its absolute path. No shell reads a command.'

/**
 * The absolute path of a tool's program.
 *
 * An absolute path is kept as it is. A relative one is read with slashes for backslashes, must stay below `tools/bin`
 * after normalization, and is resolved against the directory of the manifest. On Windows a program without a suffix
 * gets `.exe`.
 *
 * @param raw `command[0]` as it stands in the manifest.
 * @param directory Absolute path of the directory that holds the manifest.
 * @throws ManifestFault with a text that lacks the `tool[i] "<name>": ` in front.
 */
export function programPath (raw: string, directory: string): string {
  if (isAbsolute(raw)) return raw
  const slashed = raw.replaceAll('\\', '/')
  const clean = cleanPath(slashed)
  if (clean === '..' || clean.startsWith('../')) {
    throw new ManifestFault('AC3', `command[0] must not start with '..' or escape tools/bin (got ${goQuote(raw)})`, { fix: binFix })
  }
  if (!clean.startsWith('tools/bin/')) throw outsideBin(raw, slashed, clean)
  const suffix = process.platform === 'win32' && extname(clean) === '' ? '.exe' : ''
  return join(directory, clean + suffix)
}

/** The "escapes" text is for paths that are written below the bin directory and lead out of it. */
function outsideBin (raw: string, slashed: string, clean: string): ManifestFault {
  if (slashed !== './tools/bin' && !slashed.startsWith('./tools/bin/')) {
    return new ManifestFault('A34', 'relative command[0] must start with ./tools/bin/', { fix: slashed.includes('/') ? binFix : nameFix })
  }
  const normalized = clean === 'tools' || clean.startsWith('tools/') ? `./${clean}` : clean
  return new ManifestFault('A35', `command[0] escapes ./tools/bin after normalization (got ${goQuote(raw)} -> ${goQuote(normalized)})`, { fix: binFix })
}

/**
 * The shortest equal path, by Go's `path.Clean`: no empty, `.` or inner `..` elements, no slash at the end, `.` for
 * nothing. Purely lexical. Node's `path.posix.normalize` differs: it keeps a slash at the end.
 */
function cleanPath (path: string): string {
  const rooted = path.startsWith('/')
  const elements: string[] = []
  for (const element of path.split('/')) {
    if (element === '' || element === '.') continue
    if (element !== '..') elements.push(element)
    else if (elements.length > 0 && elements.at(-1) !== '..') elements.pop()
    else if (!rooted) elements.push('..')
  }
  const clean = elements.join('/')
  return rooted ? `/${clean}` : clean || '.'
}
