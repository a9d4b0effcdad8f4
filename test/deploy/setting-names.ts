import { variables } from '@toolyard/runtime'

/** Images and manifests set these, and no setting of Toolyard is meant. */
const others = new Set(['NODE_ENV', 'POD_NAME'])

/** The names that are neither settings, nor settings in a file, nor known otherwise. */
export function strangers (names: Iterable<string>): string[] {
  return [...names].filter(name => !others.has(name) && !Object.hasOwn(variables, name.replace(/_FILE$/, '')))
}
