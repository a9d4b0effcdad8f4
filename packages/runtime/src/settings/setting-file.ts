import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { asError } from '@toolyard/contract/terms'

/** Ends a variable's name when its value is the path of the file that holds it. */
const suffix = '_FILE'

/**
 * The text of a setting, trimmed: that of its variable, or of the file that `NAME_FILE` names, which is how containers get
 * their secrets. Undefined when neither is set; a blank variable counts as unset, a blank file is a mistake.
 *
 * @throws Error when both are set, or the file can't be read or holds nothing. It tells nothing of the content.
 */
export function settingText (name: string, env: NodeJS.ProcessEnv): string | undefined {
  const text = given(name, env)
  const file = given(name + suffix, env)
  if (file === undefined) return text
  if (text !== undefined) throw new Error(`${name} and ${name}${suffix} are both set: unset one of them`)
  const content = readText(name + suffix, file).trim()
  if (content === '') throw new Error(`${name}${suffix}: ${file} is empty`)
  return content
}

/** The absolute paths of the files that these settings are read from: secrets, as a rule, that no tool may see. */
export function settingFiles (names: readonly string[], env: NodeJS.ProcessEnv): string[] {
  return names.map(name => given(name + suffix, env)).filter(file => file !== undefined).map(file => resolve(file))
}

function given (name: string, env: NodeJS.ProcessEnv): string | undefined {
  const value = env[name]?.trim()
  return value === '' ? undefined : value
}

function readText (variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`${variable}: ${asError(error).message}`)
  }
}
