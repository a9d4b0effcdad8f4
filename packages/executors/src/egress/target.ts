import { isIP } from 'node:net'

/** Where a connection is to lead: a host as `canonicalHost` has it. */
export interface Target {
  host: string
  port: number
}

export function targetText ({ host, port }: Target): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
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
