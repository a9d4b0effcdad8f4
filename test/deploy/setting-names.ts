import { variables } from '@toolyard/runtime'

/** What images and manifests set that no setting of Toolyard is. */
const others = new Set(['NODE_ENV', 'POD_NAME'])

/** The names that are neither settings, nor settings in a file, nor known otherwise. */
export function strangers (names: Iterable<string>): string[] {
  return [...names].filter(name => !others.has(name) && !Object.hasOwn(variables, name.replace(/_FILE$/, '')))
}
