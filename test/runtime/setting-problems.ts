import { readSettings, SettingsError } from '@toolyard/runtime'

/** Faults of an environment, in words. */
export function problems (env: Record<string, string>): readonly string[] {
  try {
    readSettings(env)
  } catch (error) {
    if (error instanceof SettingsError) return error.problems
    throw error
  }
  return []
}
