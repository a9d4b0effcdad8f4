import { readSettings, SettingsError } from '@toolyard/runtime'

/** What is wrong with an environment, in words. */
export function problems (env: Record<string, string>): readonly string[] {
  try {
    readSettings(env)
  } catch (error) {
    if (error instanceof SettingsError) return error.problems
    throw error
  }
  return []
}
