import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'

const keyBytes = 32
/** A line that sets no key: the new one takes its place, because two lines would confuse those who read the file. */
const emptyLine = /^[ \t]*(?:export[ \t]+)?API_KEY[ \t]*=[ \t]*(?:""|'')?[ \t]*$/m

/**
 * Makes an API key and stores it as `API_KEY=` in an environment file, which only its owner can read from then on.
 * Everything else in the file stays as it is.
 *
 * @returns the key: 32 random bytes as base64url
 */
export function makeApiKey (file: string): string {
  const key = randomBytes(keyBytes).toString('base64url')
  const target = existsSync(file) ? realpathSync(file) : file
  const before = existsSync(target) ? readFileSync(target, 'utf8') : ''
  // Written beside it first: a crash leaves the old file or the new one.
  const draft = `${target}.${process.pid}.tmp`
  writeFileSync(draft, withKey(before, `API_KEY=${key}`), { mode: 0o600 })
  chmodSync(draft, 0o600)
  renameSync(draft, target)
  return key
}

function withKey (text: string, line: string): string {
  if (emptyLine.test(text)) return text.replace(emptyLine, line)
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`
}
