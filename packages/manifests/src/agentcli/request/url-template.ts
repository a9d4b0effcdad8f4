import type { HttpRun } from '../../tool/tool.ts'

/** Where a request goes, in pieces. */
export type RequestTarget = Pick<HttpRun, 'origin' | 'path' | 'search'>

const placeholder = /\{([^{}]*)\}/

/**
 * Reads a URL whose path may name arguments: `https://api.example.com/v1/{city}/weather`. An argument can stand in the
 * path alone: never in the host, the port or the query.
 *
 * @throws Error whose message follows the name of the field.
 */
export function readUrlTemplate (text: string): RequestTarget {
  // The parser of URLs takes these away, or reads them as something else.
  if (/[\s\\\p{Cc}]/u.test(text)) throw new Error('holds white space, a control character or a backslash: write %20 or %5C')
  const [, base = '', path = '', search = '', fragment] = /^([a-z]+:\/\/[^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/is.exec(text) ?? []
  if (base === '') throw new Error('must be an absolute URL, such as https://api.example.com/v1/{city}')
  if (fragment !== undefined) throw new Error('holds a fragment, which is never sent')
  if (/[{}]/.test(base + search)) throw new Error('has {} outside of its path: arguments of the query belong into query, and the host is fixed')
  if (!URL.canParse(base)) throw new Error('is no URL')
  const { protocol, username, password, origin } = new URL(base)
  if (protocol !== 'https:' && protocol !== 'http:') throw new Error('must begin with https:// or http://')
  if (username !== '' || password !== '') throw new Error('holds a user name or password: send them by {"setting": NAME}, with "prefix": "Basic " and "base64": true')
  const parts = pathParts(path === '' ? '/' : path)
  const sample = parts.map(part => typeof part === 'string' ? part : 'x').join('')
  // A URL's parser would change it, such as `..`.
  if (new URL(`${origin}${sample}`).pathname !== sample) throw new Error('has a path that can\'t be sent as it is written')
  return { origin, path: parts, search: search === '?' ? '' : new URL(`${origin}/${search}`).search }
}

function pathParts (path: string): RequestTarget['path'] {
  return path.split(/(\{[^{}]*\})/).filter(part => part !== '').map(part => {
    const argument = placeholder.exec(part)?.[1]
    if (argument === '') throw new Error('has {} without the name of an argument')
    if (argument !== undefined) return { argument }
    if (/[{}]/.test(part)) throw new Error('has a { or } that belongs to no argument')
    // Characters that are percent-encoded already stay.
    return encodeURI(part).replaceAll('%25', '%')
  })
}

/** A text in which `{name}` stands for an argument, in pieces. */
export function readTextTemplate (text: string): ReadonlyArray<string | { argument: string }> {
  return text.split(/(\{[^{}]+\})/).filter(part => part !== '').map(part => {
    const argument = placeholder.exec(part)?.[1]
    return argument === undefined || argument === '' ? part : { argument }
  })
}
