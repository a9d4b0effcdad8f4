import type { Permission } from './tool.ts'

/** What a tool can be permitted (P18). */
export const knownPermissions: readonly Permission[] = ['read_repo', 'write_files', 'network']

/** Unknown names that are told. */
const most = 20

/** The permissions that are known, in their order and without doubles, and names that are not. */
export function sortPermissions (names: readonly string[]): { permissions: readonly Permission[], unknown: readonly string[] } {
  return {
    permissions: knownPermissions.filter(permission => names.includes(permission)),
    unknown: [...new Set(names)].filter(name => !(knownPermissions as readonly string[]).includes(name)).slice(0, most)
  }
}
