import { createHash } from 'node:crypto'

const plain = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** Where a box shows the directory of a skill, on every machine and whatever version of it is there. */
export function skillPlace (name: string): string {
  return `/skills/${plain.test(name) ? name : createHash('sha256').update(name).digest('hex').slice(0, 16)}`
}
