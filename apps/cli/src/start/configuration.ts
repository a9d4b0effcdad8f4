import { existsSync } from 'node:fs'
import { join, dirname } from 'node:path'
import { readSettings, type Settings, bundledSamples } from '@toolyard/runtime'
import { makeApiKey } from './api-key.ts'
import { cp, mkdir, rename, rm, stat } from 'node:fs/promises'

/** Left by a first start for the next ones. */
export interface Configuration {
  settings: Settings
  newKey: boolean
  /** The manifest of the directory that is taken since no setting names one. */
  foundManifest: string | undefined
}

/** Where nobody has named a manifest, this is what `init` writes, and what people paste. */
const manifestName = 'tools.json'

/**
 * Reads the settings, makes an API key when none is configured and authentication isn't off, takes the
 * `tools.json` of the directory when no manifest is named, and fills the workspace when there is none. `env` is completed
 * with all of it.
 *
 * @throws SettingsError
 */
export async function configure (directory: string, env: NodeJS.ProcessEnv): Promise<Configuration> {
  const { API_KEY: key, API_KEYS_JSON: keys, API_AUTH_DISABLED: open, TOOL_MANIFESTS: manifests } = readSettings(env)
  const newKey = key === undefined && keys === undefined && !open
  if (newKey) env['API_KEY'] = makeApiKey(join(directory, '.env'))
  const foundManifest = manifests === undefined ? manifestIn(directory) : undefined
  if (foundManifest !== undefined) env['TOOL_MANIFESTS'] = foundManifest
  const settings = readSettings(env)
  await provideWorkspace(settings.WORKSPACE_DIR)
  return { settings, newKey, foundManifest }
}

/** The manifest that `toolyard start` takes in a directory where no setting names one; undefined: there is none. */
export function manifestIn (directory: string): string | undefined {
  return existsSync(join(directory, manifestName)) ? manifestName : undefined
}

/** Fills `directory` with a copy of the sample workspace when it doesn't exist. Returns whether it did. */
async function provideWorkspace (directory: string): Promise<boolean> {
  if (await exists(directory)) return false
  await mkdir(dirname(directory), { recursive: true })
  // Copied beside it first: half a copy would pass for a workspace at the next start.
  const draft = `${directory}.${process.pid}.tmp`
  await rm(draft, { recursive: true, force: true })
  await cp(bundledSamples('workspace'), draft, { recursive: true })
  await rename(draft, directory)
  return true
}

async function exists (path: string): Promise<boolean> {
  return await stat(path).then(() => true, (error: NodeJS.ErrnoException) => error.code !== 'ENOENT')
}
