import { isIP } from 'node:net'
import { webPorts, type EgressRule } from '@toolyard/runtime/outgoing'

/** Where a connection is to lead: a host as `canonicalHost` has it. */
export interface Target {
  host: string
  port: number
}

export function targetText ({ host, port }: Target): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
}

/** A place where the worker listens in a network, and the host that a connection to it leads to. */
interface Found {
  at: Target
  target: Target
}

/**
 * Programs that know no proxy find listed names by themselves, at loopback addresses of their own. Listed loopback addresses, and
 * `localhost`, are found where they are: NO_PROXY keeps programs from asking the proxy for them, and some ask it for none of these.
 */
export function foundOf (rules: readonly EgressRule[]): Found[] {
  const hosts = [...new Set(rules.map(({ host }) => host))].filter(host => isLoopback(host) || /^[^*:]*[a-z][^*:]*$/i.test(host))
  return hosts.flatMap((host, index) => {
    const address = host === 'localhost' ? '127.0.0.1' : isLoopback(host) ? host : `127.0.1.${index + 1}`
    const ports = new Set(rules.filter(rule => rule.host === host).flatMap(({ port }) => port === undefined ? webPorts : [port]))
    return [...ports].map(port => ({ at: { host: address, port }, target: { host, port } }))
  })
}

export function isLoopback (host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** A connection that is not made; the message is for the program and its log. */
export class EgressRefusal extends Error {
  override readonly name = 'EgressRefusal'
  readonly status: 403 | 502

  constructor (status: 403 | 502, message: string) {
    super(message)
    this.status = status
  }
}
