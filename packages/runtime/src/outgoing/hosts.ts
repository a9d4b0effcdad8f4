import { isIP } from 'node:net'

/** Whether a list of host names holds a host: each entry stands for its subdomains too, and `*` for all hosts. */
export function isListedHost (list: readonly string[], hostname: string): boolean {
  const host = plainHost(hostname)
  return list.some(entry => covers(plainHost(entry), host))
}

/** Lower case, and without what means the same: the dot of the root, and `*.` in front of an entry. */
export function plainHost (host: string): string {
  return host.trim().toLowerCase().replace(/^\*?\./, '').replace(/\.$/, '')
}

/** An entry of such a list as URLs have hosts (`münchen.de` is `xn--mnchen-3ya.de`, `::1` is `[::1]`); undefined for what is no host. */
export function listedHost (entry: string): string | undefined {
  const name = plainHost(entry)
  if (name === '*') return name
  const host = isIP(name) === 6 ? `[${name}]` : name
  if (!/^(?:\[[0-9a-f:.]+\]|[^\s/:?#@\\%[\]]+)$/.test(host) || !URL.canParse(`http://${host}`)) return undefined
  return new URL(`http://${host}`).hostname
}

/** Whether a host, as settings and URLs name it, is this machine alone. */
export function isLoopback (host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || /^127(?:\.\d{1,3}){3}$/.test(host)
}

function covers (entry: string, host: string): boolean {
  return entry === '*' || (entry !== '' && (host === entry || host.endsWith(`.${entry}`)))
}
