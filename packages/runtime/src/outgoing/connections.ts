import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import { AddressRefusedError, createPublicCheck, literalAddress } from './addresses.ts'
import { readInTurns } from './read-in-turns.ts'

/** Turns a host name into addresses, as Node's own `dns.lookup` with `all`. */
export type Lookup = (
  host: string, options: { all: true }, callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void
) => void

export interface ConnectionOptions {
  /** Whether addresses inside may be connected to. */
  allowPrivate: boolean
  lookup?: Lookup
}

/** Connections to public hosts alone. */
export interface Connections {
  dispatcher: Dispatcher
  /** @throws AddressRefusedError for a host that is an address inside: no lookup will come for it. */
  checkHost (hostname: string): void
  close (): Promise<void>
}

const connectMs = 10_000

/**
 * Makes the connections of one task; `close` ends them. The addresses that a name has at the very connect are checked
 * and connected to, so that a name which changes its address between two lookups gains nothing; one that has any
 * address inside is refused. Proxy variables of the environment have no effect.
 */
export function openConnections ({ allowPrivate, lookup = systemLookup }: ConnectionOptions): Connections {
  const isPublic = createPublicCheck()
  const connect = buildConnector({
    timeout: connectMs,
    lookup (host, options, callback) {
      lookup(host, { ...options, all: true }, (error, addresses) => {
        if (error !== null) return callback(error, [])
        if (!allowPrivate && !addresses.every(({ address }) => isPublic(address))) return callback(new AddressRefusedError(host), [])
        const [first] = addresses
        if (options.all === true || first === undefined) callback(null, addresses)
        else callback(null, first.address, first.family)
      })
    }
  })
  const agent = new Agent({
    connect (options, callback) {
      connect(options, (error, socket) => {
        if (error !== null) return callback(error, null)
        readInTurns(socket)
        callback(null, socket)
      })
    }
  })
  return {
    dispatcher: agent,
    checkHost (hostname) {
      const address = literalAddress(hostname)
      if (!allowPrivate && address !== undefined && !isPublic(address)) throw new AddressRefusedError(address)
    },
    close: () => agent.destroy()
  }
}
