import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import { isIP } from 'node:net'
import { Agent, type Dispatcher } from 'undici'
import { BuiltinFailure } from '../handler.ts'
import { createPublicCheck } from './addresses.ts'

/** Turns a host name into addresses, as Node's own `dns.lookup` with `all`. */
export type Lookup = (host: string, options: { all: true }, callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void) => void

export interface ConnectionOptions {
  /** Whether addresses inside may be connected to. */
  allowPrivate: boolean
  lookup?: Lookup
}

/** Connections to public hosts alone. */
export interface Connections {
  dispatcher: Dispatcher
  /** @throws BuiltinFailure for a host that is an address inside: no lookup will come for it. */
  checkHost (hostname: string): void
  close (): Promise<void>
}

const connectMs = 10_000

/**
 * Makes the connections of one call. The addresses that a name has at the very connect are checked and connected to, so
 * that a name which changes its address between two lookups gains nothing (B32); one that has any address inside is
 * refused. Proxy variables of the environment have no effect.
 */
export function openConnections ({ allowPrivate, lookup = systemLookup }: ConnectionOptions): Connections {
  const isPublic = createPublicCheck()
  const refusal = (host: string): BuiltinFailure => new BuiltinFailure(`address not allowed: ${host} is not a public host`, 'NOT_ALLOWED')
  const agent = new Agent({
    connect: {
      timeout: connectMs,
      lookup (host, options, callback) {
        lookup(host, { ...options, all: true }, (error, addresses) => {
          if (error !== null) return callback(error, [])
          if (!allowPrivate && !addresses.every(({ address }) => isPublic(address))) return callback(refusal(host), [])
          const [first] = addresses
          if (options.all === true || first === undefined) callback(null, addresses)
          else callback(null, first.address, first.family)
        })
      }
    }
  })
  return {
    dispatcher: agent,
    checkHost (hostname) {
      const address = hostname.replace(/^\[|\]$/g, '')
      if (!allowPrivate && isIP(address) !== 0 && !isPublic(address)) throw refusal(address)
    },
    close: () => agent.destroy()
  }
}
