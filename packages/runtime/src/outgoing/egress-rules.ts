import { isIP } from 'node:net'

/** One entry of a list of hosts that a tool may reach. */
export interface EgressRule {
  /** A name, an address, `*.` and a name for what is below it, or `*` for all names. */
  host: string
  /** Undefined: 80 for HTTP and 443 for TLS. */
  port: number | undefined
}

/** The ports of an entry that names none. */
export const webPorts: readonly number[] = [80, 443]

/** Reads `host`, `*.host`, `host:port`, an address with or without a port, or `*`; undefined for anything else. */
export function readEgressRule (text: string): EgressRule | undefined {
  const whole = isIP(text) === 6 ? `[${text}]` : text
  const match = /^(\*|(?:\*\.)?[^\s/:?#@\\%[\]*]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i.exec(whole)
  if (match === null) return undefined
  const port = match[2] === undefined ? undefined : Number(match[2])
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined
  const written = match[1] ?? ''
  if (written === '*') return { host: '*', port }
  const isWild = written.startsWith('*.')
  const host = canonicalHost(isWild ? written.slice(2) : written)
  if (host === undefined || (isWild && isIP(host) !== 0)) return undefined
  return { host: isWild ? `*.${host}` : host, port }
}

/** How an entry is written: every spelling of a host is one text. */
export function egressText ({ host, port }: EgressRule): string {
  const shown = isIP(host) === 6 ? `[${host}]` : host
  return port === undefined ? shown : `${shown}:${port}`
}

/**
 * A host as all of its spellings become it: lower case, without the dot of the root, `xn--` for other letters, and an
 * address in its usual form, whether it was written in decimal, octal, hexadecimal or as IPv6. Undefined for what is no host.
 */
export function canonicalHost (text: string): string | undefined {
  const bracketed = isIP(text) === 6 ? `[${text}]` : text
  if (!/^(?:\[[0-9a-f:.]+\]|[^\s/:?#@\\%[\]*]+)$/i.test(bracketed) || !URL.canParse(`http://${bracketed}`)) return undefined
  const host = new URL(`http://${bracketed}`).hostname.replace(/\.$/, '')
  if (host === '') return undefined
  return host.startsWith('[') ? unmapped(host.slice(1, -1)) : host
}

/** Whether a list lets a connection through; both sides as `canonicalHost` has them. Returns the entry. */
export function egressRuleFor (rules: readonly EgressRule[], host: string, port: number): EgressRule | undefined {
  return rules.find(rule => coversHost(rule.host, host) && (rule.port === undefined ? webPorts.includes(port) : rule.port === port))
}

/** The entries of a list that another list, which bounds it, doesn't cover. `*` alone bounds nothing. */
export function egressBeyond (list: readonly string[], bound: readonly string[]): string[] {
  if (bound.includes('*')) return []
  const bounds = bound.map(readEgressRule).filter(rule => rule !== undefined)
  return list.filter(text => {
    const rule = readEgressRule(text)
    return rule === undefined || !bounds.some(outer => coversHost(outer.host, rule.host) && coversPort(outer.port, rule.port))
  })
}

function coversPort (bound: number | undefined, port: number | undefined): boolean {
  return bound === port || (bound === undefined && port !== undefined && webPorts.includes(port))
}

/** `*` stands for names alone: an address is reached only where it is listed. */
function coversHost (pattern: string, host: string): boolean {
  if (pattern === host) return true
  if (isIP(host) !== 0) return false
  return pattern === '*' || (pattern.startsWith('*.') && host.endsWith(pattern.slice(1)))
}

/** `::ffff:10.0.0.1` reaches what `10.0.0.1` does. */
function unmapped (address: string): string {
  const match = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address)
  if (match === null) return address
  const [high, low] = [parseInt(match[1] ?? '', 16), parseInt(match[2] ?? '', 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}
