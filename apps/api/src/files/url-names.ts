import { firstChars } from '@toolyard/contract/terms'
import { HttpError } from '@toolyard/contract'

/**
 * The names in the path of a URL that follow so many others. They are read from the URL as it came: once a slash is
 * decoded, nothing tells it from one that divides names. A slash at the end is left out.
 *
 * @throws HttpError `VALIDATION_ERROR` for a name that no path may have.
 */
export function namesOfUrl (url: string, from: number): string[] {
  const [path = ''] = url.split(/[?#]/, 1)
  const parts = path.split('/').slice(from)
  if (parts.at(-1) === '') parts.pop()
  return parts.map(part => checked(decoded(part)))
}

/**
 * Of a request that puts a file: a path with a slash at the end is that of a directory, and `curl -T file` adds the name
 * itself.
 *
 * @throws HttpError `VALIDATION_ERROR`
 */
export function refuseSlashAtEnd (url: string, names: readonly string[]): void {
  const [path = ''] = url.split(/[?#]/, 1)
  if (names.length === 0 || !path.endsWith('/')) return
  throw new HttpError('VALIDATION_ERROR', `The path '${firstChars(names.join('/'), 200)}/' ends with a slash, as that of a directory: put the name of the file behind it`)
}

function decoded (part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new HttpError('VALIDATION_ERROR', `The path has a name that is not UTF-8 in percent-encoding: ${part.slice(0, 80)}`)
  }
}

function checked (name: string): string {
  const fault = name === ''
    ? 'an empty name'
    : name === '.' || name === '..' ? `the name ${name}` : name.includes('/') ? 'a name with a slash' : name.includes('\0') ? 'a name with a NUL character' : undefined
  if (fault !== undefined) throw new HttpError('VALIDATION_ERROR', `The path has ${fault}`)
  return name
}
