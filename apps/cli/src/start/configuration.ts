import { join } from 'node:path'
import { loadEnvFile, readSettings, type Settings } from '@toolyard/runtime'
import { makeApiKey } from './api-key.ts'
import { provideWorkspace } from './sample-workspace.ts'

/** What a first start leaves behind for the next ones. */
export interface Configuration {
  settings: Settings
  /** Whether the API key was made by this start. */
  newKey: boolean
}

/**
 * Reads `.env` and the settings, makes an API key when none is configured and authentication isn't off, and fills the
 * workspace when there is none. `env` is completed with what `.env` says and the new key.
 *
 * @throws SettingsError
 */
export async function configure (directory: string, env: NodeJS.ProcessEnv): Promise<Configuration> {
  const envFile = join(directory, '.env')
  loadEnvFile(envFile)
  const { API_KEY: key, API_KEYS_JSON: keys, API_AUTH_DISABLED: open } = readSettings(env)
  const newKey = key === undefined && keys === undefined && !open
  if (newKey) env['API_KEY'] = makeApiKey(envFile)
  const settings = readSettings(env)
  await provideWorkspace(settings.WORKSPACE_DIR)
  return { settings, newKey }
}
