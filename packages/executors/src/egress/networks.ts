import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { join } from 'node:path'
import { asError } from '@toolyard/contract/terms'
import { LoopTurns } from '@toolyard/runtime'
import { readEgressRule } from '@toolyard/runtime/outgoing'
import { createLauncher, type BoxNetwork, type Launcher, type ProcessGroups } from '@toolyard/sandbox'
import type { HttpPolicy } from '../run/tool-call.ts'
import type { NetworkMeans } from '../run/sandbox.ts'
import { createCallTable, type CallTable, type EgressCall, type EgressDecision } from './calls.ts'
import { certificateVariables, createTrust, type Trust } from './certificates.ts'
import { createConnectionBound, type ConnectionBound } from './connection-bound.ts'
import { createConnector, type InTurn } from './connector.ts'
import { createHttpProxy } from './http-proxy.ts'
import { serveSocks } from './socks.ts'
import { EgressRefusal, foundOf, isLoopback, type Target } from './target.ts'

interface NetworksOptions {
  means: NetworkMeans
  policy: HttpPolicy
  groups: ProcessGroups | undefined
  onConnection?: ((decision: EgressDecision) => void) | undefined
  /** A network ends: what is left in it must, too. */
  onClosed: (key: string) => void
}

interface EnteredNetwork {
  network: BoxNetwork
  /** To be called once, when no process of the call is left; gives what it was denied. */
  leave: () => string[]
}

interface NetworkOwner {
  tenant: string | undefined
  hosts: readonly string[]
  /** The tool and the key, where requests carry secrets: others must not be in a network with its placeholders. */
  holder: string | undefined
}

/** The networks of a worker, made at first use: one for each tenant and list, and for each tool and key with secrets for headers. */
export interface EgressNetworks {
  /** @throws Error when it can't be made. */
  enter (owner: NetworkOwner, call: EgressCall): Promise<EnteredNetwork>
  close (): Promise<void>
}

const proxies = [{ host: '127.0.0.1', port: 3128 }, { host: '127.0.0.1', port: 1080 }] as const
/** Connections of one listener at a time; further ones are cut off. */
const mostConnections = 256
const idleMs = 300_000
/** With more networks, one that nobody uses is ended. */
const mostNetworks = 16

interface Network {
  launcher: Launcher
  calls: CallTable
  ready: Promise<BoxNetwork>
  idle: NodeJS.Timeout | undefined
  close: () => Promise<void>
}

export function createNetworks (options: NetworksOptions): EgressNetworks {
  const networks = new Map<string, Network>()
  const connections = createConnectionBound()
  const turns = new LoopTurns()
  let count = 0
  let trust: Promise<Trust> | undefined

  async function trusted (): Promise<Trust> {
    trust ??= createTrust(options.means.directory).catch((error: unknown) => {
      trust = undefined
      throw error
    })
    return await trust
  }

  function open (id: string, { tenant, hosts, holder }: NetworkOwner): Network {
    const key = `network ${count++}`
    const inTurn: InTurn = async (part = 1) => { await turns.run(tenant ?? '', part, () => {}) }
    const made = { key, trusted: holder === undefined ? undefined : trusted, mayConnect: connections.of(tenant), inTurn, ...options }
    const network = openNetwork(hosts, made, () => { forget(id, network) })
    networks.set(id, network)
    makeRoom()
    return network
  }

  /** Who is in it goes on; the next call gets another one. */
  function forget (id: string, network: Network): void {
    if (networks.get(id) !== network) return
    networks.delete(id)
    if (network.calls.running() === 0) void network.close()
  }

  /** The map is in the order of use. */
  function makeRoom (): void {
    const unused = [...networks].filter(([, { calls }]) => calls.running() === 0)
    for (const [id, network] of unused.slice(0, Math.max(0, networks.size - mostNetworks))) forget(id, network)
  }

  return {
    async enter (owner, call) {
      const id = JSON.stringify([owner.tenant ?? null, owner.hosts, owner.holder ?? null])
      const network = networks.get(id) ?? open(id, owner)
      networks.delete(id)
      networks.set(id, network)
      clearTimeout(network.idle)
      const { token, leave } = network.calls.enter(call)
      const left = (): string[] => {
        const denied = leave()
        if (network.calls.running() > 0) return denied
        if (networks.get(id) !== network) void network.close()
        else network.idle = setTimeout(() => { forget(id, network) }, idleMs).unref()
        return denied
      }
      try {
        const made = await network.ready
        return { network: { ...made, variables: { ...made.variables, ...proxyVariables(token) } }, leave: left }
      } catch (error) {
        networks.delete(id)
        left()
        throw error
      }
    },
    async close () {
      const all = [...networks.values()]
      networks.clear()
      for (const { idle } of all) clearTimeout(idle)
      await Promise.all(all.map(network => network.close()))
    }
  }
}

interface OwnOptions extends NetworksOptions {
  key: string
  /** Absent where no request carries a secret. */
  trusted: (() => Promise<Trust>) | undefined
  mayConnect: ReturnType<ConnectionBound['of']>
  inTurn: InTurn
}

function openNetwork (
  hosts: readonly string[],
  { key, trusted, mayConnect, inTurn, means, policy, groups, onConnection, onClosed }: OwnOptions,
  onLost: () => void
): Network {
  const rules = hosts.map(readEgressRule).filter(rule => rule !== undefined)
  const calls = createCallTable(onConnection ?? (() => {}))
  const connector = createConnector({ rules, ...policy, inTurn, calls })
  const answering = trusted === undefined ? undefined : { inTurn, authority: async () => (await trusted()).authority }
  const http = createHttpProxy(connector, calls, answering)
  const found = foundOf(rules)
  const direct = found.filter(({ at }) => !proxies.some(({ host, port }) => host === at.host && port === at.port))
  let listening: { servers: ReadonlyArray<Server | undefined>, owner: number } | undefined
  const place = means.placeOf({
    at: [...proxies, ...direct.map(({ at }) => at)],
    onListening (servers, owner) {
      listening = { servers, owner }
      for (const [index, server] of servers.entries()) {
        const at = index - proxies.length
        if (server !== undefined) serve(server, mayConnect, client => { serveListener(client, at, direct[at]?.target, { calls, http }) })
      }
    },
    onLost () {
      for (const server of listening?.servers ?? []) server?.close()
      onLost()
    }
  })
  if (place === undefined) throw new Error('there is no sh or unshare (util-linux) on the PATH to make a network with')
  const directory = mkdtempSync(join(means.directory, 'network-'))
  const hostsFile = join(directory, 'hosts')
  const named = new Set(found.flatMap(({ at, target }) => isLoopback(target.host) ? [] : [`${at.host} ${target.host}`]))
  writeFileSync(hostsFile, ['127.0.0.1 localhost', '::1 localhost', ...named, ''].join('\n'), { mode: 0o644 })
  const launcher = createLauncher(place, groups)
  const ready = launcher.prepare().then(async (): Promise<BoxNetwork> => {
    const trust = await trusted?.()
    const gap = await means.prove()
    if (gap !== undefined) throw new Error(`what is in it is not held to its list (${gap})`)
    if (listening === undefined || proxies.some((_, index) => listening?.servers[index] === undefined)) throw new Error('nothing can listen in the network of the tool')
    const trusting = trust === undefined ? { variables: {} } : { certificates: trust.file, variables: certificateVariables }
    return { key, launcher, enter: means.enter(listening.owner), hostsFile, ...trusting }
  })
  ready.catch(() => {})
  return {
    launcher,
    calls,
    ready,
    idle: undefined,
    async close () {
      onClosed(key)
      for (const server of listening?.servers ?? []) server?.close()
      http.close()
      await launcher.close()
      rmSync(directory, { recursive: true, force: true })
    }
  }
}

function serve (server: Server, mayConnect: (client: Socket) => boolean, take: (client: Socket) => void): void {
  server.maxConnections = mostConnections
  // A program may end its half and go on reading.
  Object.assign(server, { allowHalfOpen: true })
  server.on('connection', client => {
    client.on('error', () => {})
    if (mayConnect(client)) take(client)
    else client.destroy()
  }).unref()
}

type Served = Parameters<typeof serveSocks>[1]

function serveListener (client: Socket, index: number, target: Target | undefined, served: Served): void {
  if (target !== undefined) serveDirect(client, target, served).catch(() => { client.destroy() })
  else if (index === -1) serveSocks(client, served).catch(() => { client.destroy() })
  else served.http.serve(client)
}

async function serveDirect (client: Socket, target: Target, { calls, http }: Served): Promise<void> {
  await http.carry({ client, head: Buffer.alloc(0), target, by: calls.find(undefined) }, () => {})
}

/** In both cases of letters: curl reads `http_proxy` in lower case alone, others the upper. */
function proxyVariables (token: string): Record<string, string> {
  const http = `http://call:${token}@127.0.0.1:${proxies[0].port}`
  const socks = `socks5h://call:${token}@127.0.0.1:${proxies[1].port}`
  // ALL_PROXY is the HTTP proxy too: clients without SOCKS fail on an address that they can't use.
  const variables = { HTTP_PROXY: http, HTTPS_PROXY: http, ALL_PROXY: http, NO_PROXY: 'localhost,127.0.0.1,::1' }
  const lower = Object.fromEntries(Object.entries(variables).map(([name, value]) => [name.toLowerCase(), value]))
  return { ...variables, ...lower, NODE_USE_ENV_PROXY: '1', TOOLYARD_SOCKS_PROXY: socks }
}

export function networkFault (error: unknown): string {
  return error instanceof EgressRefusal ? error.message : `the network of the tool could not be made: ${asError(error).message}`
}
