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
  /** Lets nothing through, either way or one way alone, and breaks nothing: it comes when the network is mended. */
  hold: (way?: Way | 'both') => void
  /** Breaks each connection in the middle of its next answer, and refuses new ones. */
  halve: () => void
  /** Lets everything through later, each way. */
  slow: (ms: number) => void
  /** Lets everything through again. */
  mend: () => void
}

/** What goes one way: what the process says, or what it hears. */
export type Way = 'said' | 'heard'

interface NetworkTarget {
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
    hold: way => { network.hold(way) },
    halve: () => { network.halve() },
    slow: ms => { network.slow(ms) },
    mend: () => { network.mend() }
  }
}

class Network {
  readonly #open = new Set<Socket>()
  #isCut = false
  #lateMs = 0
  /** What goes one way is held while its promise isn't fulfilled. */
  readonly #passes: Record<Way, Promise<void>> = { said: Promise.resolve(), heard: Promise.resolve() }
  #pass = (): void => {}
  #halves = false

  join (client: Socket, to: NetConnectOpts, rename: (data: Buffer) => Buffer): void {
    if (this.#isCut || this.#halves) {
      client.destroy()
      return
    }
    const upstream = connect(to)
    this.#lead('said', client, upstream, data => data)
    this.#lead('heard', upstream, client, rename)
  }

  cut (): void {
    this.mend()
    this.#isCut = true
    for (const socket of this.#open) socket.destroy()
  }

  hold (way: Way | 'both' = 'both'): void {
    this.mend()
    const held = new Promise<void>(resolve => { this.#pass = resolve })
    for (const each of way === 'both' ? ['said', 'heard'] as const : [way]) this.#passes[each] = held
  }

  halve (): void {
    this.mend()
    this.#halves = true
  }

  slow (ms: number): void {
    this.mend()
    this.#lateMs = ms
  }

  mend (): void {
    this.#isCut = false
    this.#lateMs = 0
    this.#halves = false
    this.#pass()
  }

  #lead (way: Way, from: Socket, to: Socket, change: (data: Buffer) => Buffer): void {
    let tail = Promise.resolve()
    const then = (act: () => void): void => {
      const due = performance.now() + this.#lateMs
      tail = tail.then(async () => {
        const ms = due - performance.now()
        if (ms > 0) await delay(ms)
        await this.#passes[way]
        act()
      })
    }
    this.#open.add(from)
    from.on('error', () => {})
    from.on('data', data => {
      then(() => {
        if (to.destroyed) return
        if (!this.#halves || way === 'said') to.write(change(data))
        else to.end(change(data).subarray(0, data.length / 2))
      })
    })
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
