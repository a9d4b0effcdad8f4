import { permissions as knownPermissions, type Permission } from '@toolyard/contract/terms'

/** Unknown names that are told. */
const most = 20

/** The permissions that are known, in their order and without doubles, and names that are not. */
export function sortPermissions (names: readonly string[]): { permissions: readonly Permission[], unknown: readonly string[] } {
  return {
    permissions: knownPermissions.filter(permission => names.includes(permission)),
    unknown: [...new Set(names)].filter(name => !knownPermissions.some(known => known === name)).slice(0, most)
  }
}
