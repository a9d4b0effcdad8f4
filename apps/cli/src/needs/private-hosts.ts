import { isIP } from 'node:net'
import type { Finding, McpServer, Tool } from '@toolyard/manifests'
import { createPublicCheck, isListedHost } from '@toolyard/runtime/outgoing'

/**
 * HTTP tools and MCP servers whose URL is for hosts of HTTP_PRIVATE_HOSTS alone, which doesn't name theirs here. The workers may have
 * another one.
 */
export function unnamedHosts (
  { tools, servers }: { tools: readonly Tool[], servers: readonly McpServer[] }, severity: 'warning' | 'note', privateHosts: readonly string[]
): Finding[] {
  const isPublic = createPublicCheck()
  const entries = [
    ...tools.flatMap(({ name, source, run }) => run.kind === 'http' ? [{ name, source, url: run.origin }] : []),
    ...servers.flatMap(({ name, source, off, connection }) => (
      off !== true && connection.kind === 'http' && typeof connection.url === 'string' ? [{ name, source, url: connection.url }] : []
    ))
  ]
  return entries.flatMap(({ name, source: { file, index }, url }): Finding[] => {
    const { protocol, hostname, origin } = new URL(url)
    const address = hostname.replace(/^\[|\]$/g, '')
    const isInside = protocol === 'http:' || (isIP(address) !== 0 && !isPublic(address))
    if (!isInside || isListedHost(privateHosts, hostname)) return []
    return [{
      severity,
      file,
      ...index === undefined ? {} : { index },
      tool: name,
      rule: 'http/private',
      message: `${JSON.stringify(name)} reaches ${origin}, which is for hosts of HTTP_PRIVATE_HOSTS alone, and that does not name ${hostname} here`,
      fix: 'Name the host in HTTP_PRIVATE_HOSTS of the workers, or write an https:// URL of a public host.'
    }]
  })
}
