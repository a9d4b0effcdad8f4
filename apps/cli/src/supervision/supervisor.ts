import { setTimeout as delay } from 'node:timers/promises'
import { asError } from '@toolyard/contract/terms'
import type { Running } from './running.ts'

export interface Service<R extends Running> {
  name: string
  /** Resolves once it serves. The signal says that it isn't wanted any more. */
  launch: (signal: AbortSignal) => Promise<R>
}

/** How long to wait before another start, in milliseconds. */
export interface Backoff {
  /** After the first failure; doubled with each one that follows, */
  firstMs: number
  /** up to this; */
  maxMs: number
  /** a service that has run so long starts over with the first. */
  steadyMs: number
}

export const defaultBackoff: Backoff = { firstMs: 100, maxMs: 10_000, steadyMs: 10_000 }

export interface SupervisorOptions {
  backoff: Backoff
  warn: (line: string) => void
  /** Once aborted, nothing is started again. */
  ending: AbortSignal
}

/** A service that runs and is started again when it ends. */
export interface Supervised<R extends Running> {
  /** The result of the first launch. */
  first: R
  /** The one that runs now; undefined while it is down. */
  current: () => R | undefined
  /** Stops it for good; to be called when `ending` is aborted. */
  stop: () => Promise<void>
}

/**
 * Launches a service and launches it again whenever it ends:
 * launching -> running -> waiting -> launching ..., until `ending`.
 *
 * The first launch is different: when it fails, so does this function, because what fails then will fail again.
 */
export async function supervise<R extends Running> (service: Service<R>, options: SupervisorOptions): Promise<Supervised<R>> {
  const first = await service.launch(options.ending)
  let current: R | undefined = first
  const ended = keepRunning(service, options, first, running => { current = running })
  const stop = async (): Promise<void> => {
    await current?.stop()
    await ended
  }
  return { first, current: () => current, stop }
}

async function keepRunning<R extends Running> (
  service: Service<R>, options: SupervisorOptions, first: R, replace: (running: R | undefined) => void
): Promise<void> {
  const { backoff, ending, warn } = options
  let running: R | undefined = first
  let wait = backoff.firstMs
  while (!ending.aborted) {
    const since = performance.now()
    const end = running === undefined ? 'could not start' : `ended (${await running.exited})`
    if (ending.aborted) return
    replace(undefined)
    if (performance.now() - since >= backoff.steadyMs) wait = backoff.firstMs
    warn(`${service.name} ${end}; starting it again in ${wait / 1000} s`)
    await delay(wait, undefined, { signal: ending }).catch(() => undefined)
    wait = Math.min(wait * 2, backoff.maxMs)
    running = await relaunch(service, options)
    if (running !== undefined) replace(running)
  }
  // The end may have come while it was launched, and whoever stops it then knew only the one before.
  await running?.stop()
}

async function relaunch<R extends Running> ({ launch }: Service<R>, { ending, warn }: SupervisorOptions): Promise<R | undefined> {
  if (ending.aborted) return undefined
  try {
    return await launch(ending)
  } catch (error) {
    if (!ending.aborted) warn(asError(error).message)
    return undefined
  }
}
