import { Type } from '@toolyard/contract/type'
import { egressText, readEgressRule } from '@toolyard/runtime/outgoing'
import type { DocumentPath } from '../finding/finding.ts'
import type { Remark } from '../finding/finding-list.ts'
import type { Permission, Tool } from '../tool/tool.ts'

/** Entries of one list. */
const mostHosts = 64

export const networkField = Type.Optional(Type.Union([
  Type.Boolean(), Type.Array(Type.String({ examples: ['api.github.com', '*.example.com:443', '10.0.0.5:5432'] }), { maxItems: mostHosts })
], { description: 'Hosts that it may reach, by name (docs/egress.md). true is the permission network: every host and port that the machine reaches.' }))

export const unixSocketsField = Type.Optional(Type.Boolean({ default: false, description: 'Its programs may make Unix sockets, as browsers and LibreOffice do. Not beside the permission network.' }))

/** From `network`, `permissions` and `unixSockets` of an entry. */
export interface NetworkReading {
  held: Pick<Tool, 'permissions' | 'network' | 'unixSockets'>
  faults: Remark[]
}

/**
 * Reads `network` beside `permissions`. Whoever names hosts doesn't hold the permission `network`, so that what forgets
 * the list shuts the tool in instead of letting it out.
 */
export function readNetwork (
  written: unknown, permissions: readonly Permission[] | undefined, path: DocumentPath, unixSockets = false
): NetworkReading {
  const { held, faults } = readHosts(written, permissions, path)
  if (!unixSockets || faults.length > 0) return { held, faults }
  if (held.permissions?.includes('network') !== true) return { held: { ...held, unixSockets }, faults }
  return { held, faults: [{ severity: 'error', rule: 'egress/list', path: [...path, 'unixSockets'], message: 'unixSockets and the permission network do not go together: abstract names of Unix sockets would lead out of the box', fix: 'Name the hosts: "network": ["api.example.com"], without network in permissions.' }] }
}

function readHosts (written: unknown, permissions: readonly Permission[] | undefined, path: DocumentPath): NetworkReading {
  const own = permissions === undefined ? {} : { permissions }
  const refuse = (message: string, fix: string, at?: number): NetworkReading =>
    ({ held: own, faults: [{ severity: 'error', rule: 'egress/list', path: [...path, 'network', ...at === undefined ? [] : [at]], message: `network${at === undefined ? '' : `[${at}]`} ${message}`, fix }] })
  if (written === undefined || written === null) return { held: own, faults: [] }
  if (written === true) {
    if (permissions === undefined) return refuse('is true, which is a permission, and there is no list of permissions', 'Write "permissions": ["network"], with the others that it needs.')
    return { held: { permissions: permissions.includes('network') ? permissions : [...permissions, 'network'] }, faults: [] }
  }
  const list: unknown = written === false ? [] : written
  if (!Array.isArray(list)) return refuse('must be a list of hosts, or true', 'Write "network": ["api.example.com"].')
  if (list.length > mostHosts) return refuse(`has more than ${mostHosts} hosts`, 'Name a domain: "*.example.com".')
  if (permissions?.includes('network') === true) return refuse('names hosts, but permissions has network, which reaches every host', 'Take network out of permissions.')
  const hosts: string[] = []
  for (const [at, item] of (list as unknown[]).entries()) {
    const rule = typeof item === 'string' ? readEgressRule(item.trim()) : undefined
    if (rule === undefined) return refuse(`is no host: ${String(JSON.stringify(item)).slice(0, 80)}`, 'Write a name or an address, without scheme and path, with a port where it is neither 80 nor 443: "api.example.com", "*.example.com:443", "10.0.0.5:5432".', at)
    hosts.push(egressText(rule))
  }
  return { held: { ...own, network: [...new Set(hosts)].sort() }, faults: [] }
}
