import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { descriptorsOf, processesIn } from '../load/leftovers.ts'
import type { RedisProcess } from '../support/redis-process.ts'
import type { Ledger } from './calls.ts'
import { masterOf } from './faults.ts'
import type { World } from './world.ts'

/** Keys that stay in Redis without an end of their own when there are no jobs, whatever has happened before. */
const lasting = [
  'toolyard:queues', 'toolyard:queues:empty', 'toolyard:job-types', 'toolyard:import-faults', 'toolyard:dashboard:secret', 'toolyard:approved'
]
/**
 * The same for each queue that exists, and each serial tool that it had; each
 * worker; and callbacks, which are kept for a time of their own.
 */
const lastingOfQueues = /:\{workers\}:|:\{\+callbacks\}|\}:(?:id|meta|events|marker)$|:serial-tools$|:serial:\{[^}]*\}:queues$/
/** Descriptors that a process may have open. */
const mostDescriptors = 150
/** Lines of a log that no run may have. */
const alarming = /MaxListenersExceededWarning|unhandledRejection|uncaughtException|ERR_UNHANDLED|"level":60|TypeError|ReferenceError|RangeError/

/** Looks at what should be gone while the service still runs, then stops it, and looks again. */
export async function checkLeftovers (world: World, ledger: Ledger): Promise<void> {
  const { client } = await masterOf(world)
  await until(ledger, 'keys of unfinished work are left', async () => (await keysOf(client)).filter(key => /:lock$|:(?:active|wait|paused|prioritized|delayed|waiting-children|held)$|:serial:(?!.*:queues$)|:limiter$|:\{\+callbacks\}:open$/.test(key)))
  await until(ledger, 'keys still have open jobs', async () => {
    const keys = (await keysOf(client)).filter(key => key.startsWith('toolyard:open:'))
    const counts = await Promise.all(keys.map(async key => ({ key, count: await sizeOf(client, key) })))
    return counts.filter(({ count }) => count > 0).map(({ key, count }) => `${key}: ${count}`)
  })
  for (const { name, process } of world.members) {
    const open = descriptorsOf(process.child.pid ?? 0)
    if (open > mostDescriptors) ledger.doubt(`${name} has ${open} descriptors open`)
  }
  for (const { name, process } of world.members) {
    const code = await process.stop('SIGTERM')
    if (code !== 0) ledger.doubt(`${name} ended with ${String(code)} at the end: ${(await process.output()).slice(-1_000)}`)
  }
  await until(ledger, 'processes are left', async () => processesIn(world.service.dir))
  await checkRetention(world, ledger)
  const { smallTemporary = join(world.temporary, 'files') } = world
  await until(ledger, 'files are left', async () => [join(world.temporary, 'files'), smallTemporary].flatMap(dir => readdirSync(dir)))
  for (const file of readdirSync(world.service.dir).filter(name => name.endsWith('.log'))) {
    const lines = readFileSync(join(world.service.dir, file), 'utf8').split('\n')
    const first = lines.findIndex(line => alarming.test(line))
    // Behind a warning stands where it comes from.
    if (first !== -1) ledger.doubt(`${file}: lines such as ${lines.slice(first, first + 12).join('\n').slice(0, 1_500)}`)
  }
}

/** With nothing to keep, nothing is kept. */
async function checkRetention (world: World, ledger: Ledger): Promise<void> {
  const env = { JOB_RETENTION_SEC: '60', JOB_RETENTION_COUNT: '1' }
  const processes = await Promise.all([world.service.startWorker(env), world.service.startApi(env)])
  const { client } = await masterOf(world)
  await until(ledger, 'keys are left when the jobs are gone', async () => {
    const keys = await keysOf(client)
    const ttls = await Promise.all(keys.map(key => client.pttl(key)))
    return keys.filter((key, index) => ttls[index] === -1 && !lasting.includes(key) && !lastingOfQueues.test(key))
  }, 240_000)
  for (const process of processes) await process.stop('SIGTERM')
}

/** Waits until a list is empty; what is in it when it hasn't become shorter for so long is a doubt. */
async function until (ledger: Ledger, what: string, read: () => Promise<string[]>, ms = 60_000): Promise<void> {
  let [fewest, at] = [Infinity, performance.now()]
  for (;;) {
    const left = await read()
    if (left.length === 0) return
    if (left.length < fewest) [fewest, at] = [left.length, performance.now()]
    if (performance.now() > at + ms) {
      ledger.doubt(`${what} (${left.length}): ${left.slice(0, 10).join(', ')}`)
      return
    }
    await delay(500)
  }
}

async function keysOf (client: RedisProcess['client']): Promise<string[]> {
  return await client.keys('toolyard:*')
}

async function sizeOf (client: RedisProcess['client'], key: string): Promise<number> {
  const kind = await client.type(key)
  if (kind === 'zset') return await client.zcard(key)
  if (kind === 'set') return await client.scard(key)
  return kind === 'none' ? 0 : 1
}
