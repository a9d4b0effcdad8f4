import { orElse } from '@toolyard/contract/terms'
import { lstat, readFile, readlink, realpath, stat } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { ManifestFault } from '../../finding/finding.ts'

/** Files that stand beside a `tools.json` that is a list. */
export const companions = ['allowlist.json', 'execution.json'] as const
/** Characters of the file that says which version is active. */
const mostChars = 4_096

/** Whether a `tools.json` is one of three files. Broken JSON is told of by whoever reads it. */
export function isList (toolsText: string): boolean {
  return /^\s*\[/.test(toolsText)
}

/** A `tools.json` that is no list, though other files of that form stand beside it. */
export async function mixedFormFault (directory: string, toolsText: string): Promise<ManifestFault | undefined> {
  const value = parsed(toolsText)
  const beside: string[] = []
  for (const name of companions) if (await isThere(join(directory, name))) beside.push(name)
  const isWhole = typeof value === 'object' && value !== null && 'allowlist' in value && 'execution' in value
  if (beside.length === 0 || isWhole || value === undefined) return undefined
  return new ManifestFault('SN1', `tools.json is no list, but beside it is ${beside.join(' and ')}`, {
    fix: 'Make tools.json the list of the tools, or an object with tools, allowlist and execution and take the other files away.'
  })
}

export async function hasVersions (directory: string): Promise<boolean> {
  return await isThere(join(directory, 'active')) && await isThere(join(directory, 'versions'))
}

/**
 * The directory of the version that is active: `active` is a link to it, a file that names it, or, in a copy without links,
 * the version itself.
 *
 * @throws ManifestFault where that is no directory in `versions/`.
 */
export async function activeVersion (directory: string): Promise<string> {
  const active = join(directory, 'active')
  if (await lstat(active).then(found => found.isDirectory(), () => false)) return active
  const written = await namedIn(active)
  for (const version of [written, join('versions', written)]) {
    const path = resolve(directory, version)
    if (written !== '' && await isVersionOf(directory, path)) return await realpath(path)
  }
  throw new ManifestFault('SN37', `active names no directory in versions/${written === '' ? '' : `: ${JSON.stringify(written.slice(0, 200))}`}`, {
    fix: 'Make active a link to one of the directories in versions/.'
  })
}

async function namedIn (file: string): Promise<string> {
  try {
    const found = await lstat(file)
    if (found.isSymbolicLink()) return await readlink(file)
    return found.isFile() && found.size <= mostChars ? (await readFile(file, 'utf8')).trim() : ''
  } catch {
    return ''
  }
}

async function isVersionOf (directory: string, path: string): Promise<boolean> {
  try {
    const [versions, real] = await Promise.all([realpath(join(directory, 'versions')), realpath(path)])
    const top = await realpath(directory)
    return versions === join(top, 'versions') && real.startsWith(versions + sep) && (await stat(real)).isDirectory()
  } catch {
    return false
  }
}

async function isThere (path: string): Promise<boolean> {
  return await lstat(path).then(() => true, () => false)
}

function parsed (text: string): unknown {
  return orElse(() => JSON.parse(text) as unknown, undefined)
}
