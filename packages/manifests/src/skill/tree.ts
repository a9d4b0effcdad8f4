import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { asError, errorCode } from '@toolyard/contract/terms'
import { skillDocuments } from '@toolyard/runtime'
import { ManifestFault, type Finding } from '../finding/finding.ts'

/** Levels of categories, and directories, that are looked into for skills. */
const most = { levels: 8, directories: 10_000 }
/** Directories without skills of their own, which may be very large. */
const passedOver = new Set(['node_modules', '__pycache__'])

/** Skills below a directory, in the order of their paths, and every directory that was looked into. */
interface SkillTree {
  skills: string[]
  directories: string[]
  findings: Finding[]
}

/** The name of the file that has the text of a skill; undefined for a directory that is none. */
export async function skillDocument (directory: string): Promise<string | undefined> {
  for (const name of skillDocuments) if (await isThere(join(directory, name))) return name
  return undefined
}

/** Whether a directory is a skill, or holds versions of one, which the reader of skills tells of. */
export async function isSkillDirectory (directory: string): Promise<boolean> {
  if (await skillDocument(directory) !== undefined) return true
  return await stat(join(directory, 'versions')).then(() => true, () => false) && await isThere(join(directory, 'active'))
}

/**
 * Finds the skills of a directory, also those in categories. What is in a skill belongs to it. A link right in the directory
 * is the operator's; one that lies deeper must stay in the tree.
 *
 * @param enough stops the search when so many skills were found
 * @throws ManifestFault when the directory can't be read.
 */
export async function skillTree (root: string, enough = Infinity): Promise<SkillTree> {
  const tree: SkillTree = { skills: [], directories: [root], findings: [] }
  const top = await realpath(root).catch(() => root)
  const seen = new Set<string>([top])
  let isFull = false

  async function look (directory: string, level: number): Promise<void> {
    for (const name of await namesIn(directory, level)) {
      if (tree.skills.length >= enough || isFull) return
      const path = join(directory, name)
      const real = await directoryAt(path)
      if (real === undefined) continue
      if (level > 1 && !real.startsWith(top + sep)) {
        if (await isSkillDirectory(path)) tree.findings.push(outside(path))
        continue
      }
      if (tree.directories.length >= most.directories) {
        isFull = true
        tree.findings.push(tooLarge(root))
        return
      }
      tree.directories.push(path)
      if (await isSkillDirectory(path)) {
        tree.skills.push(path)
        continue
      }
      if (level >= most.levels || name.startsWith('.') || passedOver.has(name) || seen.has(real)) continue
      seen.add(real)
      await look(path, level + 1)
    }
  }
  await look(root, 1)
  // Many repositories have skills for their own agents alone, in `.claude/skills` and the like.
  const hidden = tree.skills.length === 0 ? (await namesIn(root, 1)).filter(name => name.startsWith('.')) : []
  for (const directory of hidden.map(name => join(root, name, 'skills'))) {
    if (await directoryAt(directory) === undefined) continue
    tree.directories.push(directory)
    await look(directory, 2)
  }
  return tree
}

/** Links of a skill's `scripts/` that lead out of the skill, or nowhere: they are never run. */
export async function linkedOut (directory: string): Promise<Finding[]> {
  const scripts = join(directory, 'scripts')
  const entries = await readdir(scripts, { withFileTypes: true }).catch(() => [])
  const links = entries.filter(entry => entry.isSymbolicLink()).map(({ name }) => join(scripts, name))
  const top = links.length === 0 ? directory : await realpath(directory)
  const findings = await Promise.all(links.map(async (file): Promise<Finding[]> => {
    const real = await realpath(file).catch(() => undefined)
    if (real?.startsWith(top + sep) === true) return []
    const where = real === undefined ? 'nowhere' : 'out of the skill'
    return [{ severity: 'warning', file, rule: 'S27', message: `is a symbolic link that leads ${where}, and never runs`, fix: 'Put the script itself into scripts/.' }]
  }))
  return findings.flat()
}

/** A directory may be gone since it was found. */
async function namesIn (directory: string, level: number): Promise<string[]> {
  try {
    return (await readdir(directory)).sort()
  } catch (error) {
    if (level > 1) return []
    throw new ManifestFault('S1', `read skills: ${asError(error).message}`, { fix: 'Check the directory and its permissions.' })
  }
}

async function directoryAt (path: string): Promise<string | undefined> {
  try {
    const real = await realpath(path)
    return (await stat(real)).isDirectory() ? real : undefined
  } catch {
    return undefined
  }
}

async function isThere (path: string): Promise<boolean> {
  return await lstat(path).then(() => true, error => !['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? ''))
}

function outside (file: string): Finding {
  return { severity: 'error', file, rule: 'S1', message: 'is a symbolic link out of the tree of skills, and is not read', fix: 'Copy the skill into the tree, or name its directory in TOOL_MANIFESTS.' }
}

function tooLarge (file: string): Finding {
  return { severity: 'error', file, rule: 'S1', message: `has more than ${most.directories} directories; the skills in the rest are not read`, fix: 'Name the directory that holds the skills.' }
}
