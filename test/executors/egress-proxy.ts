import { once } from 'node:events'
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { createCallTable, createConnector, createHttpProxy, serveSocks, type Connector } from '@toolyard/executors'
import { readEgressRule, type Lookup } from '@toolyard/runtime/outgoing'
import type { Test } from 'tap'

/** The proxy of a network in this process, in front of a host that a test serves. */
export interface ProxyPlace {
  /** Of the listeners for HTTP and SOCKS. */
  port: number
  socksPort: number
  /** Names that the proxy has looked up. */
  lookedUp: string[]
  /** Opens a connection to the proxy. */
  program: (port?: number) => Promise<Socket>
}

interface ProxyOptions {
  hosts?: string[]
  addressOf?: (name: string) => string
  /** A value that requests to all of the hosts carry in the place of its placeholder. */
  secret?: { placeholder: string, value: string }
}

/**
 * Serves a proxy whose list is `hosts`; each of their ports leads to the host that the test serves.
 *
 * @param host serves a connection to any of the hosts
 */
export async function egressProxy (
  t: Test, host: (socket: Socket) => void, { hosts = ['api.test'], addressOf = () => '127.0.0.1', secret }: ProxyOptions = {}
): Promise<ProxyPlace> {
  const sockets = new Set<Socket>()
  const kept = (socket: Socket): Socket => {
    sockets.add(socket.on('error', () => {}).once('close', () => { sockets.delete(socket) }))
    return socket
  }
  const behind = createServer({ allowHalfOpen: true }, socket => { host(kept(socket)) }).listen(0, '127.0.0.1')
  await once(behind, 'listening')
  const lookedUp: string[] = []
  const lookup: Lookup = (name, _options, callback) => {
    lookedUp.push(name)
    callback(null, [{ address: addressOf(name), family: 4 }])
  }
  const calls = createCallTable(() => {})
  const rules = hosts.map(readEgressRule).filter(rule => rule !== undefined)
  if (secret !== undefined) {
    const audit = { record: () => {}, flush: async () => { await Promise.resolve() } }
    const secrets = [{ ...secret, name: 'api', isCurrent: async () => await Promise.resolve(true), rules }]
    calls.enter({ tool: 'hostile', job: 'job-1', log: () => {}, audit, secrets })
  }
  const connector = createConnector({ rules, privateHosts: ['api.test'], calls, lookup })
  const there: Connector = {
    ...connector, open: async (target, ...rest) => await connector.open({ ...target, port: portOf(behind) }, ...rest)
  }
  const http = createHttpProxy(there, calls)
  const takers = [
    (socket: Socket): void => { http.serve(socket) },
    (socket: Socket): void => { serveSocks(socket, { calls, http }).catch(() => { socket.destroy() }) }
  ]
  const fronts = takers.map(take => createServer({ allowHalfOpen: true }, socket => { take(kept(socket)) }).listen(0, '127.0.0.1'))
  for (const front of fronts) if (!front.listening) await once(front, 'listening')
  const [port = 0, socksPort = 0] = fronts.map(portOf)
  t.teardown(() => {
    for (const server of [behind, ...fronts]) server.close()
    for (const socket of sockets) socket.destroy()
    http.close()
  })
  return {
    port,
    socksPort,
    lookedUp,
    async program (at = port) {
      const socket = kept(connect({ port: at, host: '127.0.0.1', allowHalfOpen: true }))
      await once(socket, 'connect')
      return socket
    }
  }
}

function portOf (server: { address: () => unknown }): number {
  return (server.address() as AddressInfo).port
}
