import { isIP, type Socket } from 'node:net'
import { pipeInTurns } from '@toolyard/runtime'
import { canonicalHost, type EgressRule } from '@toolyard/runtime/outgoing'
import type { EgressCall } from './calls.ts'
import type { Connector } from './connector.ts'
import type { Target } from './target.ts'
import { readGreeting, type Greeting } from './greeting.ts'

/** A connection of a program to a host, from end to end. */
export interface Tunnel {
  client: Socket
  /** Bytes that came with the request for it. */
  head: Buffer
  target: Target
  by: EgressCall | undefined
}

/** Who speaks with the program in the place of the host. */
interface InPlace {
  http: (client: Socket) => void
  tls: (client: Socket) => void
}

/** How long a program may take to say what it speaks, where only TLS and HTTP are let through. */
const greetingMs = 15_000

/**
 * Carries a tunnel to its end. What the program says first must fit the host: TLS that names another host, or none, is cut off,
 * and plain HTTP is answered by the worker, which checks each request. Other protocols pass where the list names their port.
 *
 * @param upstream undefined: the worker answers TLS as well, and nothing else passes
 */
export async function carryTunnel (
  { client, head, target, by }: Tunnel, { upstream, rule }: { upstream: Socket | undefined, rule: EgressRule },
  connector: Connector, inPlace: InPlace
): Promise<void> {
  if (client.destroyed) return void upstream?.destroy()
  const isPort = rule.port !== undefined && upstream !== undefined
  client.on('error', () => {})
  client.once('close', () => { upstream?.destroy() })
  upstream?.once('close', () => { if (!client.destroyed) client.destroySoon() })
  // Some servers speak first.
  const unpipe = isPort ? pipeInTurns(upstream, client) : undefined
  const { greeting, bytes } = await greetingOf(client, head, isPort ? undefined : greetingMs)
  if (client.destroyed) return
  const why = faultOf(greeting, target, { isPort, isRead: upstream === undefined })
  if (why !== undefined) {
    connector.refuse(target, by, why)
    client.destroy()
    return
  }
  if (greeting?.kind === 'http' || upstream === undefined) {
    unpipe?.()
    upstream?.removeAllListeners('close')
    upstream?.destroy()
    if (bytes.length > 0) client.unshift(bytes)
    if (greeting?.kind === 'http') inPlace.http(client)
    else inPlace.tls(client)
    return
  }
  if (bytes.length > 0) upstream.write(bytes)
  if (!isPort) pipeInTurns(upstream, client)
  pipeInTurns(client, upstream)
}

function faultOf (
  greeting: Greeting | undefined, { host }: Target, { isPort, isRead }: { isPort: boolean, isRead: boolean }
): string | undefined {
  if (greeting?.kind === 'tls') {
    if (greeting.name === undefined) return isIP(host) !== 0 ? undefined : ': the TLS greeting names no host'
    // The host gets the name as it is written: what a URL would leave out or change names another one.
    return /^[!-~]+$/.test(greeting.name) && canonicalHost(greeting.name) === host ? undefined : `: the TLS greeting names another host, ${JSON.stringify(greeting.name.slice(0, 80))}`
  }
  if (greeting?.kind === 'unclear') return ': it begins like TLS or HTTP, and can\'t be read as such'
  if (greeting?.kind === 'http' || isPort) return undefined
  return isRead ? ': it is neither TLS nor HTTP, and requests to this host carry a secret' : ': it is neither TLS nor HTTP; name its port in "network"'
}

/** Undefined where the program ended, or said too little in time. */
async function greetingOf (
  client: Socket, head: Buffer, ms: number | undefined
): Promise<{ greeting: Greeting | undefined, bytes: Buffer }> {
  let bytes = head
  let greeting = readGreeting(bytes)
  if (greeting.kind !== 'more') return { greeting, bytes }
  const timer = ms === undefined ? undefined : setTimeout(() => { client.destroy() }, ms)
  await new Promise<void>(resolve => {
    const done = (): void => {
      client.off('data', take).off('end', done).off('close', done)
      client.pause()
      resolve()
    }
    const take = (chunk: Buffer): void => {
      bytes = Buffer.concat([bytes, chunk])
      greeting = readGreeting(bytes)
      if (greeting.kind !== 'more') done()
    }
    client.on('data', take).once('end', done).once('close', done).resume()
  })
  clearTimeout(timer)
  return { greeting: greeting.kind === 'more' ? undefined : greeting, bytes }
}
