import { once } from 'node:events'
import { createServer, connect, type Socket } from 'node:net'
import { byteForms, createCallTable, createConnector, createHttpProxy, htmlSafeForms, secretForms, serveSocks, type Connector } from '@toolyard/executors'
import { readEgressRule, type Lookup } from '@toolyard/runtime/outgoing'
import type { Test } from 'tap'
import { listening } from '../support/listening.ts'

/** The proxy of a network in this process, in front of a host that a test serves. */
export interface ProxyPlace {
  /** Of the listeners for HTTP and SOCKS. */
  port: number
  socksPort: number
  /** Names that the proxy has looked up. */
  lookedUp: string[]
  /** Ends the call that connections are of, where there is one. */
  endCall: () => void
  /** Opens a connection to the proxy. */
  program: (port?: number) => Promise<Socket>
}

interface ProxyOptions {
  hosts?: string[]
  addressOf?: (name: string) => string
  /** A value that requests to all of the hosts carry in the place of its placeholder. */
  secret?: { placeholder: string, value: string }
  /** Connections are those of a call, and last so many milliseconds longer than it. */
  linger?: number
}

/**
 * Serves a proxy whose list is `hosts`; each of their ports leads to the host that the test serves.
 *
 * @param host serves a connection to any of the hosts
 */
export async function egressProxy (
  t: Test, host: (socket: Socket) => void, { hosts = ['api.test'], addressOf = () => '127.0.0.1', secret, linger }: ProxyOptions = {}
): Promise<ProxyPlace> {
  const sockets = new Set<Socket>()
  const kept = (socket: Socket): Socket => {
    sockets.add(socket.on('error', () => {}).once('close', () => { sockets.delete(socket) }))
    return socket
  }
  const behind = createServer({ allowHalfOpen: true }, socket => { host(kept(socket)) })
  const hostPort = await listening(t, behind)
  const lookedUp: string[] = []
  const lookup: Lookup = (name, _options, callback) => {
    lookedUp.push(name)
    callback(null, [{ address: addressOf(name), family: 4 }])
  }
  const calls = createCallTable(() => {}, linger)
  const rules = hosts.map(readEgressRule).filter(rule => rule !== undefined)
  const audit = { record: () => {}, flush: async () => { await Promise.resolve() } }
  const call = { tool: 'hostile', job: 'job-1', log: () => {}, audit, secrets: [] }
  const entered = linger === undefined ? undefined : calls.enter(call)
  if (secret !== undefined) {
    const forms = byteForms([...await secretForms([secret.value], []), ...htmlSafeForms(secret.value)])
    const secrets = [{ ...secret, forms, name: 'api', isCurrent: async () => await Promise.resolve(true), rules }]
    calls.enter({ ...call, secrets })
  }
  const connector = createConnector({ rules, privateHosts: ['api.test'], calls, lookup })
  const there: Connector = {
    ...connector, open: async (target, ...rest) => await connector.open({ ...target, port: hostPort }, ...rest)
  }
  const http = createHttpProxy(there, calls)
  const front = async (take: (socket: Socket) => void): Promise<number> => (
    await listening(t, createServer({ allowHalfOpen: true }, socket => { take(kept(socket)) }))
  )
  const port = await front(socket => { http.serve(socket) })
  const socksPort = await front(socket => { serveSocks(socket, { calls, http }).catch(() => { socket.destroy() }) })
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    http.close()
  })
  return {
    port,
    socksPort,
    lookedUp,
    endCall () { entered?.leave() },
    async program (at = port) {
      const socket = kept(connect({ port: at, host: '127.0.0.1', allowHalfOpen: true }))
      await once(socket, 'connect')
      return socket
    }
  }
}
