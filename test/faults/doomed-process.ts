import { startRedisProxy } from '../support/redis-proxy.ts'
import type { AppProcess } from '../support/processes.ts'
import type { Service } from '../support/service.ts'
import type { Cleanup } from '../support/cleanup.ts'

export type Side = 'before' | 'after'
const sides = ['before', 'after'] as const
export const together = 6

/** A process that is killed at the n-th command about something, once it is armed. */
export interface Doomed {
  process: AppProcess
  arm: (at: number, side: Side, about: string) => void
  wasKilled: () => boolean
}

/** @param queue the only one that a worker serves */
export async function startDoomed (t: Cleanup, service: Service, name: 'api' | 'worker', queue: string): Promise<Doomed> {
  const proxy = await startRedisProxy(t, { path: service.redis.socket })
  const env = { REDIS_URL: proxy.url }
  const process = await (name === 'api' ? service.startApi(env) : service.startWorker({ ...env, WORKER_QUEUES: queue }))
  let isKilled = false
  return {
    process,
    arm: (at, side, about) => {
      let commands = 0
      void proxy.breakAt(side, (_command, args) => args.some(arg => arg.includes(about)) && ++commands === at).then(() => {
        isKilled = true
        process.child.kill('SIGKILL')
      })
    },
    wasKilled: () => isKilled
  }
}

/** The cases that run at once, the first for the n-th command. */
export function casesFrom (first: number): Array<{ at: number, side: Side }> {
  return Array.from({ length: together }, (_, index) => ({ at: first + Math.floor(index / 2), side: sides[index % 2] ?? 'before' }))
}

/** Runs a case for each command, until the process has sent all that it sends. Answers how many there were. */
export async function atEveryCommand (
  name: string, run: (queue: string, at: number, side: Side, about: string) => Promise<boolean>
): Promise<number> {
  for (let first = 1; ; first += together / 2) {
    const killed = await Promise.all(casesFrom(first).map(async ({ at, side }) => (
      await run(`${name}-${at}-${side}`, at, side, `${name}, ${side} command ${at}`)
    )))
    if (killed.includes(false)) return first
  }
}
