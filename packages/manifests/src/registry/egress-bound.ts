import type { JobAccess } from '@toolyard/contract'
import type { PermissionPolicy } from '@toolyard/contract/terms'
import { egressBeyond, egressText } from '@toolyard/runtime/outgoing'
import type { Tool } from '../tool/tool.ts'

/**
 * The hosts that a tool reaches beyond those that the deployment, the tenant and the key allow, each by a list of its own; `*`
 * for one whose permission opens all of them.
 */
export function hostsBeyond (
  tool: Tool, { egress, egressOf, defaults }: PermissionPolicy, { hosts, tenant }: Pick<JobAccess, 'hosts' | 'tenant'> = {}
): string[] {
  const bounds = [egress, tenant === undefined ? undefined : egressOf?.(tenant), hosts].filter(bound => bound !== undefined)
  if (bounds.length === 0) return []
  const reach = hostsReached(tool, defaults)
  return [...new Set(bounds.flatMap(bound => egressBeyond(reach, bound)))]
}

/** The hosts that a tool may reach, `*` for all of them. Built-in tools have allowlists of their own, and none here. */
export function hostsReached ({ run, network, permissions }: Tool, defaults: PermissionPolicy['defaults']): readonly string[] {
  if (run.kind === 'builtin' || run.kind === 'service' || run.kind === 'read-skill') return []
  if (run.kind === 'http') return [hostOf(run.origin)]
  if (run.kind === 'mcp' && run.server.connection.kind === 'http') {
    const { url } = run.server.connection
    // One that holds a secret has its host in front of it.
    const text = typeof url === 'string' ? url : url.prefix ?? ''
    return URL.canParse(text) ? [hostOf(text)] : ['*']
  }
  return network ?? ((permissions ?? defaults).includes('network') ? ['*'] : [])
}

function hostOf (url: string): string {
  const { hostname, port } = new URL(url)
  return egressText({ host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? undefined : Number(port) })
}
