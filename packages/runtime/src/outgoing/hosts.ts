/** Whether a list of host names holds a host: each entry stands for its subdomains too, and `*` for all hosts. */
export function isListedHost (list: readonly string[], hostname: string): boolean {
  const host = plainHost(hostname)
  return list.some(entry => covers(plainHost(entry), host))
}

/** Lower case, and without what means the same: the dot of the root, and `*.` in front of an entry. */
export function plainHost (host: string): string {
  return host.trim().toLowerCase().replace(/^\*?\./, '').replace(/\.$/, '')
}

function covers (entry: string, host: string): boolean {
  return entry === '*' || (entry !== '' && (host === entry || host.endsWith(`.${entry}`)))
}
