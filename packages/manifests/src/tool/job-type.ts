import { createHash } from 'node:crypto'

/** A name that can stand in a job type as it is. It holds no dot, so no hashed name can equal it. */
const plainName = /^[a-z0-9_-]+$/
const maxLength = 80

/**
 * The job type of a manifest's tool: `agentcli.get_time`, always matching `^[a-z0-9._-]{3,80}$`.
 *
 * A name that doesn't fit becomes `<prefix>.<slug>.<hash of the name>`: the same in every process, and different for
 * different names, such as `Get` and `get`.
 */
export function jobTypeOf (prefix: string, name: string): string {
  if (plainName.test(name) && prefix.length + 1 + name.length <= maxLength) return `${prefix}.${name}`
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 16)
  const slug = name.slice(0, 40).toLowerCase().replace(/[^a-z0-9_-]+/g, '-') || '-'
  return `${prefix}.${slug.slice(0, 40)}.${hash}`
}
