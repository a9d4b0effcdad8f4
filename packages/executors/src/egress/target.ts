import type { ServerResponse } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { canonicalHost, webPorts, type EgressRule } from '@toolyard/runtime/outgoing'

/** Where a connection is to lead: a host as `canonicalHost` has it. */
export interface Target {
  host: string
  port: number
}

export function targetText ({ host, port }: Target): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
}

/** `host:port`, which is that of a CONNECT, or a host alone where there is a usual port. */
export function targetOf (authority: string, usual?: number): Target | undefined {
  const match = /^(.+):(\d{1,5})$/.exec(usual === undefined || /:\d{1,5}$/.test(authority) ? authority : `${authority}:${usual}`)
  const host = match === null ? undefined : canonicalHost(match[1] ?? '')
  const port = Number(match?.[2])
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port }
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

export function answerRefusal (response: ServerResponse, error: unknown): void {
  const { status, message } = refusalOf(error)
  if (response.headersSent || response.destroyed) return void response.destroy()
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${message}\n`)
}

export function endWith (client: Socket, error: unknown): void {
  const { status, message } = refusalOf(error)
  const body = `${message}\n`
  client.end(`HTTP/1.1 ${status} ${status === 403 ? 'Forbidden' : 'Bad Gateway'}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`)
}

/** @throws what is no refusal: a bug. */
function refusalOf (error: unknown): EgressRefusal {
  if (error instanceof EgressRefusal) return error
  return new EgressRefusal(502, `egress: the request could not be made (${error instanceof Error && 'code' in error ? String(error.code) : 'unknown'})`)
}
