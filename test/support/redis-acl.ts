import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const docs = fileURLToPath(new URL('../../../docs/redis.md', import.meta.url))

/** The rules of docs/redis.md for a user with the least privileges, as arguments of `ACL SETUSER`, its name first. */
export function leastPrivileges (password: string): string[] {
  const line = /^ACL SETUSER (.*)$/m.exec(readFileSync(docs, 'utf8'))?.[1]
  if (line === undefined) throw new Error('docs/redis.md has no ACL line')
  return line.split(' ').map(rule => rule === '>PASSWORD' ? `>${password}` : rule)
}
