import type { Test } from 'tap'
import { read, type Job } from '../jobs/submission.ts'
import { createClient, type Client } from '../support/client.ts'
import { waitFor } from '../support/condition.ts'
import { startRedisProxy } from '../support/redis-proxy.ts'
import type { AppName, AppProcess } from '../support/processes.ts'
import { testKeys, type Service } from '../support/service.ts'

type Side = 'before' | 'after'
/** Where a process is killed. A worker runs its tool between two commands; for an API, after one is the same as before the next. */
const sides = { api: ['before'], worker: ['before', 'after'] } as const
const together = 6
/** Commands that change nothing. An API does all that it does in Redis, which is the same before and after each of them. */
const reads = new Set(['exists', 'hget', 'hgetall', 'hmget'])

/** A process that is killed at the n-th command about something, once it is armed. */
interface Doomed {
  process: AppProcess
  arm: (at: number, side: Side, about: string) => void
  wasKilled: () => boolean
}

/** A step of a job in which a process is killed, again for each command that it sends. */
interface Step {
  /** Makes the job of a case, and gives its id. */
  before: (queue: string) => Promise<string>
  check: (id: string, queue: string, about: string) => Promise<void>
}

interface ApiStep extends Step {
  /** Asks the process that is killed. */
  act: (to: Client, id: string, queue: string) => Promise<unknown>
}

interface WorkerStep extends Step {
  /** Called before the jobs of some cases are made; what it gives, once they are. */
  open?: () => Promise<() => Promise<unknown>>
  act: (id: string, queue: string) => Promise<unknown>
  isDone: (job: Job) => boolean
  /** Called when its worker was killed, or it is done. */
  then?: (id: string) => Promise<unknown>
}

/** @param queue the only one that a worker serves */
async function startDoomed (t: Test, service: Service, name: AppName, queue: string): Promise<Doomed> {
  const proxy = await startRedisProxy(t, { path: service.redis.socket })
  const env = { REDIS_URL: proxy.url }
  const process = await (name === 'api' ? service.startApi(env) : service.startWorker({ ...env, WORKER_QUEUES: queue }))
  const isCounted = (command: string): boolean => name === 'worker' || !reads.has(command)
  let isKilled = false
  return {
    process,
    arm: (at, side, about) => {
      let commands = 0
      const breaks = (command: string, args: string[]): boolean => (
        isCounted(command) && args.some(arg => arg.includes(about)) && ++commands === at
      )
      void proxy.breakAt(side, breaks).then(() => {
        isKilled = true
        process.child.kill('SIGKILL')
      })
    },
    wasKilled: () => isKilled
  }
}

/** The cases that run at once, the first for the n-th command. */
function casesFrom (name: string, app: AppName, first: number): Array<{ at: number, side: Side, queue: string, about: string }> {
  const commands = Array.from({ length: together / sides[app].length }, (_, index) => first + index)
  return commands.flatMap(at => sides[app].map(side => ({ at, side, queue: `${name}-${at}-${side}`, about: `${name}, ${side} command ${at}` })))
}

/** Kills an API process at each of its commands that may write, until it has sent all that it sends, which are more than `least`. */
export async function killApiAtEachCommand (t: Test, service: Service, name: string, least: number, step: ApiStep): Promise<void> {
  const worker = await service.startWorker()
  let commands = 0
  for (let first = 1; commands === first - 1; first += together) {
    const killed = await Promise.all(casesFrom(name, 'api', first).map(async ({ at, side, queue, about }) => {
      const [id, doomed] = [await step.before(queue), await startDoomed(t, service, 'api', queue)]
      doomed.arm(at, side, `{${queue}}`)
      await step.act(createClient(doomed.process.address, testKeys.admin), id, queue).catch(() => {})
      await step.check(id, queue, about)
      await doomed.process.stop('SIGKILL')
      return doomed.wasKilled()
    }))
    commands += killed.filter(wasKilled => wasKilled).length
  }
  t.ok(commands > least, `${commands} commands`)
  await worker.stop()
}

/** Kills a worker at each of its commands about a job, which are more than `least`; then another worker serves them all. */
export async function killWorkerAtEachCommand (t: Test, service: Service, name: string, least: number, step: WorkerStep): Promise<void> {
  let first = 1
  for (let areAllKilled = true; areAllKilled; first += together / 2) {
    const close = await step.open?.()
    const made = await Promise.all(casesFrom(name, 'worker', first).map(async each => ({ ...each, id: await step.before(each.queue) })))
    await close?.()
    const cases = await Promise.all(made.map(async each => ({ ...each, doomed: await startDoomed(t, service, 'worker', each.queue) })))
    await Promise.all(cases.map(async ({ at, side, queue, id, doomed }) => {
      // The first command about the job is the one after it was taken.
      doomed.arm(at, side, `:${id}`)
      await step.act(id, queue)
      await waitFor('it is killed, or done', async () => doomed.wasKilled() || step.isDone(await read(service.client, id)))
      await step.then?.(id)
    }))
    areAllKilled = cases.every(({ doomed }) => doomed.wasKilled())
    await Promise.all(cases.map(async ({ doomed }) => await doomed.process.stop('SIGKILL')))
    const rescuer = await service.startWorker()
    for (const { queue, id, about } of cases) await step.check(id, queue, about)
    await rescuer.stop('SIGKILL')
  }
  t.ok(first - together / 2 > least, `${first - together / 2} commands`)
}

/** The job once it is in one of these states. */
export async function comesTo ({ client }: { client: Client }, id: string, about: string, ...states: string[]): Promise<Job> {
  return await waitFor(`${about}: it is ${states.join(' or ')}`, async () => {
    const job = await read(client, id)
    return states.includes(job.status) && job
  }, 30_000)
}
