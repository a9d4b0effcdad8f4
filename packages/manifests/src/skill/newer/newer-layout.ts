import { lstat, readFile, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ManifestFault } from '../../finding/finding.ts'

/** Files of the newer form that stand beside its `tools.json`. */
const companions = ['allowlist.json', 'execution.json']
/** Characters of the file that says which version is active. */
const mostChars = 4_096

/** What a skill is that has its tools in three files; undefined for one that has them in one. */
export async function newerFormFault (directory: string, toolsText: string): Promise<ManifestFault | undefined> {
  const value = parsed(toolsText)
  const isList = Array.isArray(value)
  const beside: string[] = []
  for (const name of companions) if (await isThere(join(directory, name))) beside.push(name)
  const isWhole = typeof value === 'object' && value !== null && 'allowlist' in value && 'execution' in value
  if (!isList && (beside.length === 0 || isWhole || value === undefined)) return undefined
  const found = [...isList ? ['tools.json is a list'] : [], ...beside.length > 0 ? [`beside it is ${beside.join(' and ')}`] : []]
  return new ManifestFault('SC27', `this skill is in a newer form of its format, which is not read: ${found.join(', ')}`, {
    fix: 'Write one tools.json, an object with tools, allowlist and execution, or take a version of the skill in that form.'
  })
}

/** What a directory is that holds versions of a skill, one of which is active; undefined for any other. */
export async function versionsFault (directory: string): Promise<ManifestFault | undefined> {
  if (!await isThere(join(directory, 'active')) || !await isThere(join(directory, 'versions'))) return undefined
  const version = await activeVersion(directory)
  return new ManifestFault('SC27', `this directory holds versions of a skill (active${version === undefined ? '' : ` is ${version}`}), a layout of a newer form of its format, which is not read`, {
    fix: `Name the directory of one version${version === undefined ? '' : `, ${join(directory, version)},`} and see that it has its SKILL.md.`
  })
}

/** `active` is a link to the version, or a file that names it. */
async function activeVersion (directory: string): Promise<string | undefined> {
  const file = join(directory, 'active')
  try {
    const found = await lstat(file)
    const written = found.isSymbolicLink() ? await readlink(file) : found.isFile() && found.size <= mostChars ? (await readFile(file, 'utf8')).trim() : ''
    for (const version of [written, join('versions', written)]) {
      if (written !== '' && await stat(join(directory, version)).then(found => found.isDirectory(), () => false)) return version
    }
    return undefined
  } catch {
    return undefined
  }
}

async function isThere (path: string): Promise<boolean> {
  return await lstat(path).then(() => true, () => false)
}

function parsed (text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
