import type { ClusterOptions, Redis as Server, RedisOptions as AllRedisOptions } from 'ioredis'
import { lookup as systemLookup } from 'node:dns'
import { createConnection, isIP, type LookupFunction, type Socket, type TcpNetConnectOpts } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import type { RedisTarget } from '@toolyard/runtime'
import { errorCode, withoutUndefined } from '@toolyard/contract/terms'
import { ioredis, type Redis } from './ioredis.ts'
import { noteReconnects } from './reconnects.ts'
import { followSentinels } from './sentinel-watch.ts'
import { followServerTime } from './server-clock.ts'
import { leaveSilentServers } from './silence.ts'
import { keepSubscribed } from './subscription.ts'

export type { Redis }

/** Without the option that changes the types of all replies. */
type RedisOptions = Omit<AllRedisOptions, 'replyMapping'>
type NodeOptions = Omit<NonNullable<ClusterOptions['redisOptions']>, 'replyMapping'>

/**
 * The purpose of a connection:
 * - `request`: commands of HTTP requests; fails at once while Redis is away, and never repeats a command by itself;
 * - `worker`: commands of a worker; waits for Redis to come back;
 * - `subscriber`: pub/sub; subscribes again after a reconnect.
 */
export type ConnectionRole = 'request' | 'worker' | 'subscriber'

/**
 * Reconnecting helps when a failover has turned the server into a replica. A request's command stays failed; what a worker
 * has to say is sent again, until a server takes it: also where it has fewer replicas than it must have, or can't save.
 */
const reconnects = { request: /READONLY/, worker: /READONLY|NOREPLICAS|MISCONF|MASTERDOWN|LOADING/ }
const [leaveFailed, sendAgain] = [1, 2] as const

const roles: Record<ConnectionRole, RedisOptions> = {
  request: {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    reconnectOnError: ({ message }) => reconnects.request.test(message) && leaveFailed
  },
  worker: { maxRetriesPerRequest: null, reconnectOnError: ({ message }) => reconnects.worker.test(message) && sendAgain },
  subscriber: { maxRetriesPerRequest: null, autoResubscribe: false }
}

/** The first way back is short: a server that is a replica for a moment is left after each write that it refuses. */
const retryDelay = (attempt: number): number => Math.min(50 * attempt - 40, 500)
/** Between two tries of a command that a cluster's node can't take now, in milliseconds. */
const againMs = 100

/**
 * Opens one connection; it connects in the background and reconnects for ever.
 *
 * @param onError gets connection errors, each once until the connection stands.
 */
export function connectRedis (
  target: RedisTarget, role: ConnectionRole, onError: (error: Error) => void, lookup: LookupFunction = systemLookup
): Redis {
  const redis = open(target, role, lookup)
  const reported = new Set<string>()
  let wasRefused = false
  const report = (error: Error): void => {
    // How a refused connection ended says less than the refusal.
    if (reported.has(error.message) || (wasRefused && brokenOff.has(errorCode(error)))) return
    reported.add(error.message)
    onError(error)
  }
  redis.on('error', report)
  if (role === 'subscriber') keepSubscribed(redis, report)
  else followServerTime(redis)
  leaveSilentServers(redis, writableServers)
  if (target.place.kind === 'sentinels' && redis instanceof ioredis.Redis) followSentinels(redis, target.place, target.tls)
  noteReconnects(redis)
  redis.on('ready', () => {
    reported.clear()
    wasRefused = false
  })
  const attend = (server: Server): void => {
    server.on('connect', () => {
      // When a server refuses many commands at once, ioredis ends the connection for each of them, and adds a listener each time.
      server.stream.setMaxListeners(0)
      hearRefusal(server.stream, refusal => {
        wasRefused = true
        report(refusal)
      })
    })
  }
  if (redis instanceof ioredis.Cluster) redis.on('+node', attend)
  else attend(redis)
  return redis
}

/** Codes of connections that a server ended. */
const brokenOff: ReadonlySet<unknown> = new Set(['EPIPE', 'ECONNRESET'])

/** What a server says to a connection that it takes none of: it has as many as it may, or protects itself from other machines. */
const refusalOfConnection = /^-(?:ERR |DENIED )?(max number of clients.*|(?:Redis is r|R)unning in protected mode[^.]*)/

/** Reports why a server ends a connection at once. ioredis takes that for the answer to its first command, in which it has no interest. */
function hearRefusal (stream: Server['stream'], report: (error: Error) => void): void {
  stream.once('data', (first: Buffer) => {
    const [, reason] = refusalOfConnection.exec(first.toString('latin1', 0, 200)) ?? []
    if (reason !== undefined) report(new Error(`it refuses the connection: ${reason.trim()}`))
  })
}

/** Waits until a connection stands, at most `ms`; whether it does. */
export async function isConnected (redis: Redis, ms: number): Promise<boolean> {
  if (redis.status === 'ready') return true
  return await new Promise<boolean>(resolve => {
    const end = (): void => {
      clearTimeout(timer)
      redis.off('ready', end)
      resolve(redis.status === 'ready')
    }
    const timer = setTimeout(end, ms)
    redis.on('ready', end)
  })
}

/** The servers that a connection writes to: itself, or a cluster's masters. */
export function writableServers (redis: Redis): Server[] {
  return redis instanceof ioredis.Cluster ? redis.nodes('master') : [redis]
}

function open ({ place, username, password, tls }: RedisTarget, role: ConnectionRole, lookup: LookupFunction): Redis {
  const common: RedisOptions = {
    connectionName: `toolyard-${role}`,
    connectTimeout: 2_000,
    ...withoutUndefined({ username, password, tls })
  }
  const options: RedisOptions = { ...roles[role], ...common, retryStrategy: retryDelay }
  switch (place.kind) {
    case 'server':
      return place.url.startsWith('unix:')
        ? new ioredis.Redis({ ...options, path: place.url.slice('unix:'.length) })
        : new ioredis.Redis(place.url, { ...options, Connector: connectorWith(lookup) })
    case 'sentinels':
      return new ioredis.Redis({
        ...options,
        sentinels: [...place.nodes],
        name: place.master,
        sentinelRetryStrategy: retryDelay,
        ...withoutUndefined({ sentinelUsername: place.username, sentinelPassword: place.password }),
        ...(tls === undefined ? {} : { enableTLSForSentinelMode: true, sentinelTLS: tls })
      })
    case 'cluster':
      return new ioredis.Cluster([...place.nodes], clusterOptions(role, common))
  }
}

interface ConnectorOptions {
  host: string
  port: number
  family: number
  tls?: ConnectionOptions
  disconnectTimeout: number
}

/**
 * Connects to one server as ioredis does, but for the time to connect: it begins once the name was found. Where the first name
 * server was silent, no name was found in time, and a server that was there was never reached.
 */
function connectorWith (lookup: LookupFunction): NonNullable<RedisOptions['Connector']> {
  return class extends ioredis.AbstractConnector {
    readonly #options: ConnectorOptions

    constructor (options: unknown) {
      // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- ioredis gives its own options.
      const own = options as ConnectorOptions
      super(own.disconnectTimeout)
      this.#options = own
    }

    override async connect (): Promise<Socket> {
      const { host, port, family, tls } = this.#options
      this.connecting = true
      const to: TcpNetConnectOpts = { host, port, family, lookup }
      const stream = this.stream = tls === undefined ? createConnection(to) : connectTls(Object.assign(to, tls))
      stream.once('error', (error: Error) => { this.firstError = error })
      if (isIP(host) === 0) await new Promise(resolve => { stream.once('lookup', resolve).once('close', resolve) })
      if (!this.connecting) throw new Error('Connection is closed.')
      return stream
    }
  }
}

/**
 * A cluster's client sends a command again by itself when its node is gone or has moved. A request gives up before its
 * patience ends, a worker doesn't: what it has to say is a job's outcome.
 */
function clusterOptions (role: ConnectionRole, redisOptions: NodeOptions): Omit<ClusterOptions, 'redisOptions'> & { redisOptions: NodeOptions } {
  return {
    enableOfflineQueue: role !== 'request',
    maxRedirections: role === 'request' ? 16 : Number.MAX_SAFE_INTEGER,
    retryDelayOnFailover: againMs,
    retryDelayOnClusterDown: againMs,
    retryDelayOnTryAgain: againMs,
    slotsRefreshTimeout: 2_000,
    clusterRetryStrategy: retryDelay,
    redisOptions: { ...redisOptions, maxRetriesPerRequest: null }
  }
}
