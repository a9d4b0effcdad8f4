import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { waitFor } from '../support/condition.ts'
import type { RedisProcess } from '../support/redis-process.ts'
import { fill, withMember, type Fault, type FaultParts, type Interval } from './fault.ts'
import { cutNetwork, fillTemporary, halveAnswers, holdNetwork, slowNetwork } from './single-faults.ts'
import type { Member, World } from './world.ts'

const faults: ReadonlyArray<readonly [weight: number, fault: Fault]> = [
  [8, killWorker], [4, stopWorker], [3, killApi], [2, endApi], [2, endWorker], [2, stopApi],
  [3, cutNetwork], [4, holdNetwork], [3, halveAnswers], [2, slowNetwork], [3, fillTemporary],
  [4, jumpClock], [2, stopRedis], [2, failOver], [2, fillMemory], [2, fillDisk]
]

/** Brings one fault after the other, and heals all when `isOver`. */
export async function disturb (parts: FaultParts, isOver: () => boolean): Promise<void> {
  const running: Array<Promise<void>> = []
  while (!isOver()) {
    await delay(parts.random.int(500, 5_000))
    const fault = parts.random.weighted(faults)
    const done = fault(parts).catch((error: unknown) => { parts.ledger.doubt(`the fault ${fault.name} failed: ${String(error)}`) })
    parts.ledger.count(`fault ${fault.name}`)
    // Faults of Redis come one by one; the others may come together.
    if ([stopRedis, failOver, fillMemory, fillDisk].includes(fault)) await done
    else running.push(done)
  }
  await Promise.all(running)
}

async function killWorker (parts: FaultParts): Promise<void> {
  await withMember(parts, 'worker', async member => { await kill(parts, member) })
}

async function killApi (parts: FaultParts): Promise<void> {
  await withMember(parts, 'api', async member => { await kill(parts, member) })
}

async function kill ({ world }: FaultParts, member: Member): Promise<void> {
  world.history.add(`kills ${member.name}`)
  await member.process.stop('SIGKILL')
  await world.replace(member)
}

async function endWorker (parts: FaultParts): Promise<void> {
  await withMember(parts, 'worker', async member => { await end(parts, member) })
}

async function endApi (parts: FaultParts): Promise<void> {
  await withMember(parts, 'api', async member => { await end(parts, member) })
}

/** A process that could not reach Redis for so long while it stopped may have given up. */
const graceMs = 30_000

async function end ({ world, ledger, intervals }: FaultParts, member: Member): Promise<void> {
  world.history.add(`ends ${member.name} with SIGTERM`)
  const from = world.history.now()
  const code = await member.process.stop('SIGTERM')
  const wasAway = intervals.some(({ what, to }) => (what === 'failover' || what === 'Redis away') && to > from - graceMs)
  if (code !== 0 && !wasAway) ledger.doubt(`${member.name} ended with ${String(code)} at SIGTERM: ${(await member.process.output()).slice(-1_000)}`)
  await world.replace(member)
}

async function stopWorker (parts: FaultParts): Promise<void> {
  await withMember(parts, 'worker', async member => {
    const from = parts.world.history.now()
    await stop(parts, member, parts.random.int(300, 8_000))
    parts.intervals.push({ what: 'worker stopped', from, to: parts.world.history.now() })
  })
}

async function stopApi (parts: FaultParts): Promise<void> {
  await withMember(parts, 'api', async member => { await stop(parts, member, parts.random.int(300, 4_000)) })
}

async function stop ({ world }: FaultParts, { name, process }: Member, ms: number): Promise<void> {
  world.history.add(`stops ${name} for ${ms} ms`)
  process.child.kill('SIGSTOP')
  await delay(ms)
  process.child.kill('SIGCONT')
}

async function jumpClock ({ world, random }: FaultParts): Promise<void> {
  const member = random.pick(world.members)
  const seconds = random.pick([-600, -60, -4, -1, 0, 1, 4, 60, 600])
  if (world.clocks === undefined) return
  world.history.add(`sets the clock of ${member.name} to ${seconds} s`)
  world.clocks.set(member.name, seconds)
}

/** How long Sentinels wait for a master, less what they need to notice. */
const downAfterMs = 800

async function stopRedis ({ world, random, intervals }: FaultParts): Promise<void> {
  const server = await masterOf(world)
  const ms = random.int(100, 4_000)
  world.history.add(`stops Redis for ${ms} ms`)
  const interval = begin({ world, intervals }, 'failover')
  server.signal('SIGSTOP')
  await delay(ms)
  server.signal('SIGCONT')
  // The Sentinels wait a second before they make the replica the master. What the old one takes until it hears of that is lost.
  interval.what = ms < downAfterMs ? 'Redis away' : 'failover'
  await waitFor('the replica is in step again', async () => await isInStep(world), 120_000)
  interval.to = world.history.now()
}

/** Kills the master, waits until the replica has taken its place, and brings the old one back as a replica. */
async function failOver ({ world, intervals }: FaultParts): Promise<void> {
  const master = await masterOf(world)
  const other = otherOf(world, master)
  await waitFor('the replica is in step', async () => await isInStep(world), 60_000)
  const interval = begin({ world, intervals }, 'failover')
  world.history.add('kills the master of Redis')
  await master.kill()
  await waitFor('the replica is the master', async () => /role:master/.test(await other.client.info('replication')), 60_000)
  world.history.add('the replica of Redis is the master')
  await master.start().catch(async () => {
    // Redis 7.0 damages its append-only file now and then when its disk was full.
    world.history.add('the old master cannot read its data, and starts without')
    await master.forget()
    await master.start()
  })
  // Until the old master is a replica, the new one takes no writes: it has too few.
  await waitFor('the old master is a replica', async () => await isInStep(world), 120_000)
  interval.to = world.history.now()
  world.history.add('the old master is a replica')
}

/** From now on, until its end is set. */
function begin ({ world, intervals }: Pick<FaultParts, 'world' | 'intervals'>, what: Interval['what']): Interval {
  const interval = { what, from: world.history.now(), to: Infinity }
  intervals.push(interval)
  return interval
}

/** Leaves Redis no memory for a while. */
async function fillMemory ({ world, random }: FaultParts): Promise<void> {
  const { client } = await masterOf(world)
  const used = Number(/used_memory:(\d+)/.exec(await client.info('memory'))?.[1])
  const ms = random.int(500, 5_000)
  world.history.add(`leaves Redis no memory for ${ms} ms`)
  await client.config('SET', 'maxmemory', String(used))
  await delay(ms)
  await client.config('SET', 'maxmemory', '0')
}

/** Fills the disk that the append-only file of Redis is on. */
async function fillDisk ({ world, random, intervals }: FaultParts): Promise<void> {
  const master = await masterOf(world)
  if (world.smallDisk === undefined || master !== world.redis.master) return
  const file = join(world.smallDisk, 'filler')
  const ms = random.int(500, 4_000)
  world.history.add(`leaves the disk of Redis no room for ${ms} ms`)
  const interval = begin({ world, intervals }, 'Redis away')
  fill(file)
  await delay(ms)
  rmSync(file)
  await waitFor('the replica is in step again', async () => await isInStep(world), 120_000)
  // On a busy machine a master that waits for its disk may count as down.
  if (await masterOf(world) !== master) interval.what = 'failover'
  interval.to = world.history.now()
}

/** Brings Redis and all members back to where they serve. */
export async function heal (world: World): Promise<void> {
  for (const server of [world.redis.master, world.redis.replica]) {
    server.signal('SIGCONT')
    if (!server.isRunning()) await server.start()
    await server.client.config('SET', 'maxmemory', '0')
  }
  await waitFor('a master is there', async () => await masterOf(world).then(() => true, () => false), 60_000)
  for (const { name, process, network } of world.members) {
    network.mend()
    process.child.kill('SIGCONT')
    world.clocks?.set(name, 0)
  }
}

/** The server that the Sentinels call the master. */
export async function masterOf ({ redis }: World): Promise<RedisProcess> {
  return await waitFor('Redis has a master', async () => {
    for (const server of [redis.master, redis.replica]) {
      if (server.isRunning() && /role:master/.test(await server.client.info('replication')) && await isNamed(redis, server)) return server
    }
    return undefined
  }, 60_000)
}

/** Whether one server is the master, in the eyes of all, and the other follows it. */
async function isInStep (world: World): Promise<boolean> {
  const master = await masterOf(world)
  return /master_link_status:up/.test(await otherOf(world, master).client.info('replication'))
}

async function isNamed ({ sentinels }: World['redis'], server: RedisProcess): Promise<boolean> {
  for (const { client } of sentinels) {
    const address = await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'toolyard') as [string, string] | null
    if (address?.[1] !== String(server.port)) return false
  }
  return true
}

function otherOf ({ redis }: World, server: RedisProcess): RedisProcess {
  return server === redis.master ? redis.replica : redis.master
}
