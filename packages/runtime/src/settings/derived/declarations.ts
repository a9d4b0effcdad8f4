import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import type { Settings } from '../settings.ts'
import { sessionSettingsOf, toolSourcesOf } from './resolved.ts'

/** The names that the text of a skill may have, as people write them. */
export const skillDocuments: readonly string[] = ['SKILL.md', 'skill.md', 'Skill.md', 'SKILL.MD']
/** What a directory that is named as a manifest declares itself by. */
const declaring = ['tools.json', ...skillDocuments, 'allowlist.json', 'execution.json']
/** What one that is a skill runs, and which of its versions. */
const ofSkill = ['scripts', 'versions', 'active']

/**
 * Files and directories that say which tools there are, what they may do, and what sessions begin as: no tool may write them, or it
 * would give itself what it likes. The programs of a manifest beside it are among them. Absolute paths.
 */
export function declarationsOf (settings: Settings, env: NodeJS.ProcessEnv): string[] {
  const { manifests, policyFile, lock } = toolSourcesOf(settings, env)
  const places = [settings.WORKSPACE_DIR, sessionSettingsOf(settings).dir].map(path => resolve(path))
  const others = [policyFile, settings.SESSION_TEMPLATES_DIR].filter(path => path !== undefined)
  // What is around the workspace or the sessions can't be closed as a whole.
  const isAround = (path: string): boolean => places.some(place => place === path || place.startsWith(path === sep ? sep : `${path}${sep}`))
  return [lock.file, ...manifests.map(declaredBy), ...others].map(path => resolve(path))
    .flatMap(path => isAround(path) ? [...declaring, ...isSkill(path) ? ofSkill : []].map(name => join(path, name)) : [path])
    .flatMap(file => /\.json$/i.test(basename(file)) ? [file, join(dirname(file), 'tools')] : [file])
    .filter(path => !isAround(path))
}

/** A skill may be named by one of its files, whatever that is called: what it is lies in all of its directory. */
function declaredBy (manifest: string): string {
  const isDirectory = existsSync(`${manifest}${sep}`)
  const directory = dirname(manifest)
  return !isDirectory && (skillDocuments.includes(basename(manifest)) || isSkill(directory)) ? directory : manifest
}

function isSkill (directory: string): boolean {
  const has = (name: string): boolean => existsSync(join(directory, name))
  return skillDocuments.some(has) || (has('versions') && has('active'))
}
