import { join, dirname } from 'node:path'
import { findRedisTarget, sampleManifests, serveStatus, type Settings } from '@toolyard/runtime'
import { extraGraceMs, type ChildOptions, type ReadyChild, launchChild } from '../supervision/child.ts'
import { supervise, type SupervisorOptions, type Service } from '../supervision/supervisor.ts'
import { startWorkers } from '../supervision/workers.ts'
import type { Entries } from './entries.ts'
import { ensureRedisServer, startRedisServer, type RedisServer } from '@toolyard/store/server'
import { print } from '../terminal/terminal.ts'
import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync, writeSync } from 'node:fs'

interface PartsOptions extends SupervisorOptions {
  directory: string
  env: NodeJS.ProcessEnv
  settings: Settings
  entries: Entries
  /** Kills the service and the worker at once while they stop. */
  force: AbortSignal
}

/** They stop the parts; filled while they start, so that a start that fails half-way can be undone. */
export type StopSteps = Array<() => Promise<unknown>>

/**
 * Starts the embedded Redis (unless the settings name one), then the HTTP service and the workers together.
 *
 * @param steps gets what stops them, the last started first
 * @param giveUp is called at the first failure
 * @returns where the HTTP service listens, and what the parts said of themselves
 */
export async function startParts (options: PartsOptions, steps: StopSteps, giveUp: () => void): Promise<Pick<ReadyChild, 'report'> & { address: string }> {
  const { directory, settings, entries } = options
  // Nobody spreads requests over the processes of one machine's start, and whoever presses Ctrl-C waits.
  const env: NodeJS.ProcessEnv = { SHUTDOWN_DELAY_SEC: '0', ...options.env }
  // An empty one counts as unset.
  if (settings.TOOL_MANIFESTS === undefined) env['TOOL_MANIFESTS'] = sampleManifests()
  if (findRedisTarget(settings) === undefined) {
    const redis = await supervise(await redisService(redisDirectory(directory), env), options)
    steps.unshift(redis.stop)
    env['REDIS_URL'] = redis.first.url
  }
  const api = supervise(childService({ name: 'api', ...childOptions('api', entries.api, env, options) }), options)
  const workers = startWorkers({ ...options, count: settings.WORKER_PROCESSES, child: childOptions('worker', entries.worker, env, options) })
  for (const start of [api, ...workers.starts]) start.catch(giveUp)
  steps.unshift(() => Promise.all([api.then(({ stop }) => stop(), () => undefined), workers.stop()]))
  // The service listens on the port itself.
  if (settings.METRICS_PORT !== undefined) {
    const server = await serveStatus(workers.status, settings.HOST, settings.METRICS_PORT === 0 ? 0 : settings.METRICS_PORT + 1)
    steps.push(server.close)
  }
  const [{ first }, ...started] = await Promise.all([api, ...workers.starts])
  return { address: first.address ?? `http://${settings.HOST}:${settings.PORT}`, report: { ...started[0]?.first.report, ...first.report } }
}

export function redisDirectory (directory: string): string {
  return join(directory, '.toolyard/redis')
}

function childOptions (name: string, entry: string, env: NodeJS.ProcessEnv, options: PartsOptions): Omit<ChildOptions, 'name'> {
  const { directory, settings, warn, force } = options
  const log = new LogFile(join(directory, `.toolyard/logs/${name}.log`))
  const graceMs = (settings.SHUTDOWN_GRACE_SEC + Number(env['SHUTDOWN_DELAY_SEC'] ?? 0)) * 1_000 + extraGraceMs
  return { entry, directory, env, log, warn, force, graceMs }
}

/** The embedded Redis, with its data in `dir`; installs a server program when there is none. */
async function redisService (dir: string, env: NodeJS.ProcessEnv): Promise<Service<RedisServer>> {
  const { path } = await ensureRedisServer({ env, say: print })
  return { name: 'redis', launch: () => startRedisServer({ binary: path, dir, aof: true }) }
}

function childService (options: ChildOptions): Service<ReadyChild> {
  return { name: options.name, launch: signal => launchChild(options, signal) }
}

/** A log that is longer is set aside, in bytes. */
const maxBytes = 10 * 2 ** 20

/** A file that log lines are appended to; at `maxBytes` it is set aside as `NAME.1`, in place of the one before. */
class LogFile {
  readonly #path: string
  /** Its path, for those who are told to read it. */
  readonly place: string
  #descriptor: number
  #bytes: number

  constructor (path: string) {
    this.#path = path
    this.place = path
    this.#descriptor = this.#open()
    this.#bytes = statSync(path).size
  }

  /** Appends text as it is. A full disk loses log lines, and nothing else. */
  write (text: string): void {
    try {
      if (this.#bytes >= maxBytes) this.#setAside()
      this.#bytes += writeSync(this.#descriptor, text)
    } catch {
      // There is no place left to tell of it.
    }
  }

  /** Others may have moved the file, or its directory. */
  #setAside (): void {
    if (existsSync(this.#path)) renameSync(this.#path, `${this.#path}.1`)
    // Opened first: a full disk may have no room for another file, and the one of before stays.
    const descriptor = this.#open()
    closeSync(this.#descriptor)
    this.#descriptor = descriptor
    this.#bytes = 0
  }

  #open (): number {
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
    return openSync(this.#path, 'a', 0o600)
  }
}
