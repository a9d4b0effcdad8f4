/** Sent by the console with each request; the cookie of a login counts only beside it. */
export const consoleHeader = 'x-toolyard-console'

/**
 * Its value: for whom the page is, by the name of a key, once that is known. Tabs share their cookie, and one that shows a key must
 * not ask in the name of another.
 */
export function consoleHeaderFor (name: string | undefined): string {
  if (name === undefined) return '1'
  return `key ${Array.from(new TextEncoder().encode(name), byte => byte.toString(16).padStart(2, '0')).join('')}`
}
