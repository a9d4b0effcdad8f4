import type { Dispatcher } from 'undici'

/** Characters of a header's value that are told. */
export const headerChars = 200

/** The first value of a header of an answer; empty when it isn't there. */
export function header (response: Pick<Dispatcher.ResponseData, 'headers'>, name: string): string {
  const value = response.headers[name]
  return (Array.isArray(value) ? value[0] : value) ?? ''
}

/** Where an answer redirects to, as the server wrote it; undefined for one that doesn't. */
export function redirectTarget (response: Pick<Dispatcher.ResponseData, 'headers' | 'statusCode'>): string | undefined {
  const location = header(response, 'location')
  return [301, 302, 303, 307, 308].includes(response.statusCode) && location !== '' ? location : undefined
}
