import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse, populate } from 'dotenv'
import { errorCode } from '@toolyard/contract/terms'
import { SettingsError } from './settings.ts'

/** What dotenv takes as one assignment, over several lines where a value in quotes goes on. */
const assignment = /^\s*(?:export\s+)?[\w.-]+(?:\s*=\s*?|:\s+?)(?:\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\n]+)?\s*(?:#.*)?$/mg

/**
 * Reads `.env` in the working directory into `process.env`, where a variable that is set already wins.
 *
 * @throws SettingsError for a file that is there and can't be read: a service without its settings may do more than it
 *   should.
 */
export function loadEnvFile (file = '.env'): void {
  const text = readEnvFile(resolve(file))
  if (text !== undefined) populate(process.env, parse(text))
}

/** The lines of an environment file that set nothing and are no remark, a warning each. No text of them is told: it may be a secret. */
export function envFileWarnings (file = '.env'): string[] {
  const path = resolve(file)
  const text = readEnvFile(path)?.replace(/\r\n?/g, '\n') ?? ''
  const rest = text.replace(assignment, taken => taken.replace(/[^\n]/g, ''))
  return rest.split('\n').flatMap((line, at) => /^\s*(?:#|$)/.test(line)
    ? []
    : [`${path}:${at + 1} sets nothing: write NAME=value, or put # before a remark`])
}

function readEnvFile (path: string): string | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new SettingsError([`${path} can't be read (${String(code)}): let this user read it, or start in a directory that has none`])
  }
  if (text.includes('\0')) throw new SettingsError([`${path} isn't a text in UTF-8: save it as one`])
  return text
}
