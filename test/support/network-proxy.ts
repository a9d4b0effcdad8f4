import { once } from 'node:events'
import { connect, createServer, type NetConnectOpts, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cleanup } from './cleanup.ts'
import { freePort } from './redis-process.ts'

/** The network between one process and what it talks to. A test can break it for this process alone. */
export interface NetworkProxy {
  /** Where the process finds the targets, in their order. */
  ports: readonly number[]
  /** Breaks all connections, and refuses new ones. */
  cut: () => void
  /** Lets nothing through, either way, and breaks nothing: it comes when the network is mended. */
  hold: () => void
  /** Lets everything through later, each way. */
  slow: (ms: number) => void
  /** Lets everything through again. */
  mend: () => void
}

export interface NetworkTarget {
  to: NetConnectOpts
  /** It tells the process of the other targets by their ports, in place of which the process gets those of the proxy. */
  tellsPorts?: boolean
}

export async function startNetworkProxy (cleanup: Cleanup, targets: readonly NetworkTarget[]): Promise<NetworkProxy> {
  const network = new Network()
  const ports: number[] = []
  while (ports.length < targets.length) ports.push(await freePort())
  const rename = renaming(targets, ports)
  const servers = await Promise.all(targets.map(async (target, place) => await listen(ports[place] ?? 0, client => {
    network.join(client, target.to, target.tellsPorts === true ? rename : data => data)
  })))
  cleanup.teardown(() => {
    network.cut()
    for (const server of servers) server.close()
  })
  return {
    ports,
    cut: () => { network.cut() },
    hold: () => { network.hold() },
    slow: ms => { network.slow(ms) },
    mend: () => { network.mend() }
  }
}

class Network {
  readonly #open = new Set<Socket>()
  #isCut = false
  #lateMs = 0
  /** Fulfilled when nothing holds what is under way. */
  #passes = Promise.resolve()
  #pass = (): void => {}

  join (client: Socket, to: NetConnectOpts, rename: (data: Buffer) => Buffer): void {
    if (this.#isCut) {
      client.destroy()
      return
    }
    const upstream = connect(to)
    this.#lead(client, upstream, data => data)
    this.#lead(upstream, client, rename)
  }

  cut (): void {
    this.mend()
    this.#isCut = true
    for (const socket of this.#open) socket.destroy()
  }

  hold (): void {
    this.mend()
    this.#passes = new Promise(resolve => { this.#pass = resolve })
  }

  slow (ms: number): void {
    this.mend()
    this.#lateMs = ms
  }

  mend (): void {
    this.#isCut = false
    this.#lateMs = 0
    this.#pass()
  }

  #lead (from: Socket, to: Socket, change: (data: Buffer) => Buffer): void {
    let tail = Promise.resolve()
    const then = (act: () => void): void => {
      const due = performance.now() + this.#lateMs
      tail = tail.then(async () => {
        const ms = due - performance.now()
        if (ms > 0) await delay(ms)
        await this.#passes
        act()
      })
    }
    this.#open.add(from)
    from.on('error', () => {})
    from.on('data', data => { then(() => { if (!to.destroyed) to.write(change(data)) }) })
    from.on('close', () => {
      this.#open.delete(from)
      if (this.#isCut) to.destroy()
      else then(() => { to.destroy() })
    })
  }
}

/** Ports have five digits, so that no length changes. */
function renaming (targets: readonly NetworkTarget[], ports: readonly number[]): (data: Buffer) => Buffer {
  const names = targets.flatMap(({ to }, place) => 'port' in to ? [[String(to.port), String(ports[place])] as const] : [])
  return data => {
    let text = data.toString('latin1')
    for (const [theirs, ours] of names) text = text.replaceAll(theirs, ours)
    return Buffer.from(text, 'latin1')
  }
}

async function listen (port: number, onClient: (client: Socket) => void): Promise<Server> {
  const server = createServer(onClient)
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}
