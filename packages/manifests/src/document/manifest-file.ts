import { readJsonInTurns } from '@toolyard/contract/terms'
import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { lstat, open, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { isDeeperThan } from './depth.ts'
import { jsonFault } from './json-fault.ts'
import { ManifestFault } from '../finding/finding.ts'
import { manifestLimits } from '../tool/limits.ts'

/** The file of an entry of `TOOL_MANIFESTS`: the path itself, or `tools.json` in it when it is a directory. */
export async function manifestFile (path: string): Promise<{ file: string, directory?: string }> {
  const file = resolve(path)
  const isDirectory = await stat(file).then(found => found.isDirectory(), () => false)
  return isDirectory ? { file: join(file, 'tools.json'), directory: file } : { file }
}

export interface ManifestFileText {
  text: string
  /** Without it, bytes that are no UTF-8 have become U+FFFD. */
  utf8: boolean
}

/**
 * The text of a manifest, read as UTF-8 without dropping a byte order mark.
 *
 * @throws ManifestFault `read manifest: …` when it can't be read, is no file, or is too large.
 */
export async function readManifestText (file: string): Promise<ManifestFileText> {
  try {
    const bytes = await readFileBytes(file)
    return { text: bytes.toString('utf8'), utf8: isUtf8(bytes) }
  } catch (error) {
    const several = /[\s:]/.test(file) ? ' In TOOL_MANIFESTS, commas separate several.' : ''
    throw new ManifestFault('AC1', `read manifest: ${error instanceof FileFault ? `${file} ` : ''}${messageOf(error)}`, { fix: await withoutManifest(file) ?? `Check the path, its permissions and its size.${several}` })
  }
}

/**
 * The bytes of a file, which may be replaced by anything at any moment.
 *
 * @throws FileFault for what is no file, or too large; errors of the file system.
 */
export async function readFileBytes (file: string, mostBytes: number = manifestLimits.fileBytes): Promise<Buffer> {
  // Without O_NONBLOCK the open of a pipe waits for a writer, and nothing is read again after it.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = await handle.stat()
    if (!found.isFile()) throw new FileFault('is not a file')
    if (found.size > mostBytes) throw new FileFault(`is larger than ${mostBytes} bytes`)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

/**
 * The bytes of a file, piece by piece, for what may be large.
 *
 * @throws FileFault for what is no file; errors of the file system.
 */
export async function * filePieces (file: string): AsyncGenerator<Buffer> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!(await handle.stat()).isFile()) throw new FileFault('is not a file')
    for await (const piece of handle.createReadStream({ autoClose: false })) if (piece instanceof Buffer) yield piece
  } finally {
    await handle.close()
  }
}

/** Its message is what is said of the file. */
export class FileFault extends Error {}

/** Says what a directory must hold, when a manifest that isn't there was looked for in one. */
async function withoutManifest (file: string): Promise<string | undefined> {
  if (basename(file) !== 'tools.json' || await lstat(file).then(() => true, () => false)) return undefined
  const isDirectory = await stat(dirname(file)).then(found => found.isDirectory(), () => false)
  return isDirectory ? 'Name a manifest, a directory with SKILL.md or tools.json, or one whose own directories have a SKILL.md.' : undefined
}

/** The manifest's path, and where that leads when it is a symbolic link. */
export async function watchedFiles (file: string): Promise<string[]> {
  const real = await realpath(file).catch(() => file)
  return real === file ? [file] : [file, real]
}

/**
 * The JSON of a manifest; what a double can't hold is noted beside the values. A byte order mark and anything after the
 * value are errors, as in Go.
 *
 * @throws ManifestFault `parse manifest: …`.
 */
export async function parseManifest (text: string): Promise<unknown> {
  if (text.startsWith('\ufeff')) throw new ManifestFault('AC1', 'parse manifest: begins with a byte order mark', { fix: 'Save it as UTF-8 without one.' })
  try {
    return await readJsonInTurns(text, setImmediate)
  } catch (error) {
    // V8 quotes the place with its line ends.
    const message = messageOf(error).replace(/\s+/g, ' ')
    throw new ManifestFault('AC1', `parse manifest: ${message}`, {
      ...jsonFault(text)?.place,
      // Half of the bytes of a text in UTF-16 are zeros.
      fix: /^.{0,3}\0/s.test(text) ? 'Save it as UTF-8: it seems to be UTF-16.' : 'Correct the JSON: one object, no comments, no comma behind the last item, no byte order mark, nothing after it.'
    })
  }
}

/** @throws ManifestFault for a value that recursive code could not walk. */
export function refuseDeep (value: unknown): void {
  if (!isDeeperThan(manifestLimits.depth, value)) return
  throw new ManifestFault('AC1', `parse manifest: nested deeper than ${manifestLimits.depth} levels`, { fix: 'Nest the manifest less deeply.' })
}

function messageOf (error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
