import type { LookupAddress } from 'node:dns'
import { connect, isIP, type Socket } from 'node:net'
import { errorCode } from '@toolyard/contract/terms'
import { createHostLookup, createPublicCheck, egressRuleFor, isListedHost, type EgressRule, type Lookup } from '@toolyard/runtime/outgoing'
import type { CallTable, EgressCall } from './calls.ts'
import type { TLSSocket } from 'node:tls'
import { secured } from './secured.ts'
import { EgressRefusal, targetText, type Target } from './target.ts'

interface ConnectorOptions {
  rules: readonly EgressRule[]
  /** Names whose addresses may be private. */
  privateHosts: readonly string[]
  lookup?: Lookup | undefined
  /** Authorities of hosts, in PEM; absent: those of Node. */
  authorities?: readonly string[] | undefined
  inTurn?: InTurn
  calls: CallTable
}

/**
 * Resolves in a turn of the event loop that bears work of so many parts of a turn; 1 when absent. To begin TLS, or to look through a piece
 * of an answer, takes part of a millisecond, and programs begin many at once.
 */
export type InTurn = (part?: number) => Promise<void>

/** Decides which connections of one network are made, and makes them. */
export interface Connector {
  /** The entry that lets a connection through. @throws EgressRefusal where there is none. */
  admit (target: Target, by: EgressCall | undefined): EgressRule
  /** Connects to an admitted host, at the addresses that it has now, for as long as its program is connected. @throws EgressRefusal. */
  open (target: Target, by: EgressCall | undefined, client: Socket): Promise<Socket>
  /** The same, over TLS. @throws EgressRefusal. */
  openSecure (target: Target, by: EgressCall | undefined, client: Socket): Promise<TLSSocket>
  /** Whether the operator has said that a host may be inside, where requests go in the clear. */
  isInside (host: string): boolean
  /** Refuses what an admitted connection turned out to be. */
  refuse (target: Target, by: EgressCall | undefined, why: string): EgressRefusal
}

const connectMs = 10_000

export function createConnector (
  { rules, privateHosts, lookup = createHostLookup(), authorities, inTurn = async () => {}, calls }: ConnectorOptions
): Connector {
  const isPublic = createPublicCheck()

  function refuse (target: Target, by: EgressCall | undefined, why: string): EgressRefusal {
    const line = `egress: denied ${targetText(target)}${why}`
    calls.denied(target, by, line)
    return new EgressRefusal(403, line)
  }

  function unreached (by: EgressCall | undefined, what: string, error: unknown): EgressRefusal {
    const line = `egress: ${what} (${errorCode(error) ?? 'unknown'})`
    calls.unreached(by, line)
    return new EgressRefusal(502, line)
  }

  /** An address that is listed is meant, wherever it is. */
  async function addressesOf (target: Target, by: EgressCall | undefined): Promise<LookupAddress[]> {
    const { host } = target
    if (isIP(host) !== 0) return [{ address: host, family: isIP(host) }]
    const addresses = await new Promise<LookupAddress[]>((resolve, reject) => {
      lookup(host, { all: true }, (error, found) => { if (error === null) resolve(found); else reject(error) })
    }).catch((error: unknown) => { throw unreached(by, `${host} was not found`, error) })
    if (!isListedHost(privateHosts, host) && !addresses.every(({ address }) => isPublic(address))) {
      throw refuse(target, by, ': its address is not public; HTTP_PRIVATE_HOSTS of the workers names hosts that may be inside')
    }
    return addresses
  }

  async function open (target: Target, by: EgressCall | undefined, client: Socket): Promise<Socket> {
    const addresses = await addressesOf(target, by)
    if (client.destroyed) throw new EgressRefusal(502, `egress: nobody waits for ${targetText(target)} any more`)
    const socket = connect({
      host: target.host,
      port: target.port,
      allowHalfOpen: true,
      autoSelectFamily: true,
      noDelay: true,
      // These addresses were checked: no other is connected to.
      lookup: (_host, options, callback) => {
        const [first] = addresses
        if (options.all === true || first === undefined) callback(null, addresses)
        else callback(null, first.address, first.family)
      }
    })
    calls.opened(target, by, client, socket)
    const leave = (): void => { socket.destroy() }
    client.once('close', leave)
    socket.once('close', () => { client.off('close', leave) })
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(() => { socket.destroy(Object.assign(new Error('too slow'), { code: 'ETIMEDOUT' })) }, connectMs)
      socket.once('error', error => { reject(unreached(by, `${targetText(target)} can't be reached`, error)) })
      socket.once('connect', () => { resolve(socket) })
      socket.once('close', () => { clearTimeout(timer) })
      socket.once('connect', () => { clearTimeout(timer) })
      socket.on('error', () => {})
    })
  }

  return {
    admit (target, by) {
      const rule = egressRuleFor(rules, target.host, target.port)
      if (rule === undefined) throw refuse(target, by, ', add it to "network"')
      return rule
    },
    open,
    openSecure: async (target, by, client) => {
      const socket = await open(target, by, client)
      await inTurn()
      return await secured(socket, target, authorities)
    },
    isInside: host => isListedHost(privateHosts, host) || (isIP(host) !== 0 && !isPublic(host)),
    refuse
  }
}
