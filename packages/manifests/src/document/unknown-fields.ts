import { nearName } from '@toolyard/contract/terms'
import type { TSchema } from 'typebox'
import { placeOf } from './place.ts'
import type { DocumentPath, FieldFault } from '../finding/finding.ts'

/** Fields that are free for all, and comments. */
const foreign = /^(?:x-|\/\/|_?comment$|\$comment$)/

/** Fields of one place that are looked at: each is compared with all names that are known. */
const most = 100

/** How a place treats fields that its definition doesn't have. */
interface UnknownFieldsPlace {
  path: DocumentPath
  definition: TSchema
  /** Whether all of them are named, or only those that look like a known one. */
  all: boolean
  /** Fields that people write for a known one, and what to write. */
  aliases?: Readonly<Record<string, string>>
}

/** Words of other programs: a tool's permissions alone say what it may do. */
export const permissionAliases = {
  sandbox: 'permissions (the sandbox itself is the setting SANDBOX)',
  sandboxed: 'permissions (the sandbox itself is the setting SANDBOX)',
  allow_network: '"network": [HOSTS], or "permissions": ["network"] for all of them',
  allowed_hosts: '"network": [HOSTS]',
  egress: '"network": [HOSTS]',
  read_only: '"permissions": ["read_repo"]',
  writable: '"permissions": ["write_files"]',
  allow_write: '"permissions": ["write_files"]',
  capabilities: 'permissions',
  access: 'permissions'
} as const

/** Fields that are ignored: mostly mistakes in writing, which otherwise nobody would notice. */
export function unknownFields (value: Record<string, unknown>, { path, definition, all, aliases = {} }: UnknownFieldsPlace): FieldFault[] {
  const known = Object.keys((definition as { properties?: object }).properties ?? {})
  return Object.keys(value).filter(name => !known.includes(name) && !foreign.test(name)).slice(0, most).flatMap(name => {
    const near = Object.hasOwn(aliases, name) ? name : nearName(name, known) ?? nearName(name, Object.keys(aliases))
    const meant = near !== undefined && Object.hasOwn(aliases, near) ? aliases[near] : near
    if (meant === undefined && !all) return []
    const at = [...path, name]
    return [{
      path: at,
      rule: 'X21',
      message: `${placeOf(at)} is no known field and is ignored`,
      fix: meant === undefined ? `Remove it, or put x- in front of its name; known here are ${known.join(', ')}.` : `Write ${meant}.`
    }]
  })
}
