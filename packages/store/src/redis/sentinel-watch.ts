import type { Redis as Server, RedisOptions } from 'ioredis'
import type { RedisTarget } from '@toolyard/runtime'
import { withoutUndefined } from '@toolyard/contract/terms'
import { ioredis } from './ioredis.ts'

type Sentinels = Extract<RedisTarget['place'], { kind: 'sentinels' }>

const channel = '+switch-master'
/** Between two tries to reach a Sentinel, in milliseconds. */
const againMs = 1_000
interface Watch {
  place: Sentinels
  connections: Set<Server>
  end: () => void
}

/** The watch of a process for one target, which its connections share. */
const watches = new WeakMap<Sentinels, Watch>()
const watchOf = new WeakMap<Server, Watch>()

/**
 * Leaves a master as soon as a Sentinel tells of its successor. One that was silent for a moment doesn't know that it has one: Sentinels
 * tell it some ten seconds after it is back, and what it takes until then is lost.
 */
export function followSentinels (redis: Server, place: Sentinels, tls: RedisTarget['tls']): void {
  follow(redis, watches.get(place) ?? watch(place, tls))
}

/** Another connection to where this one leads, which leaves a master as this one does. */
export function duplicateOf (redis: Server, options: Omit<RedisOptions, 'replyMapping'>): Server {
  const duplicate = redis.duplicate(options)
  const watch = watchOf.get(redis)
  if (watch !== undefined) follow(duplicate, watch)
  return duplicate
}

function follow (redis: Server, watch: Watch): void {
  const { place, connections, end } = watch
  watchOf.set(redis, watch)
  connections.add(redis)
  redis.on('end', () => {
    connections.delete(redis)
    if (connections.size > 0) return
    watches.delete(place)
    end()
  })
}

function watch (place: Sentinels, tls: RedisTarget['tls']): Watch {
  const { nodes, master, username, password } = place
  const connections = new Set<Server>()
  const sentinels = nodes.map(({ host, port }) => new ioredis.Redis({
    host,
    port,
    connectionName: 'toolyard-watch',
    connectTimeout: 2_000,
    enableReadyCheck: false,
    autoResubscribe: false,
    retryStrategy: () => againMs,
    ...withoutUndefined({ username, password, tls })
  }))
  for (const sentinel of sentinels) {
    // The connections themselves say what is wrong.
    sentinel.on('error', () => {})
    sentinel.on('message', (_channel: string, message: string) => {
      const [name, , , host, port] = message.split(' ')
      if (name === master) for (const redis of connections) leave(redis, `${host}:${port}`)
    })
    sentinel.on('ready', () => { sentinel.subscribe(channel).catch(() => {}) })
  }
  const made = { place, connections, end: () => { for (const sentinel of sentinels) sentinel.disconnect() } }
  watches.set(place, made)
  return made
}

/** Each Sentinel tells of it, also when the connection is there already. */
function leave (redis: Server, successor: string): void {
  // It may have asked another Sentinel, which doesn't know yet.
  if (redis.status === 'connecting') return void redis.once('connect', () => { leave(redis, successor) })
  if (redis.status !== 'ready' && redis.status !== 'connect') return
  const { remoteAddress, remotePort } = redis.stream
  if (`${remoteAddress}:${remotePort}` !== successor) redis.disconnect(true)
}
