import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fill, withMember, type FaultParts } from './fault.ts'
import { smallWorker, type Member } from './world.ts'

/** Breaks the connections of one process to Redis. */
export async function cutNetwork (parts: FaultParts): Promise<void> {
  await breakNetwork(parts, 'cuts', network => { network.cut() })
}

/** Lets nothing through between one process and Redis, or only what the process says, or only what it hears. */
export async function holdNetwork (parts: FaultParts): Promise<void> {
  const way = parts.random.pick(['both', 'said', 'heard'] as const)
  await breakNetwork(parts, way === 'both' ? 'holds' : `holds what is ${way} by`, network => { network.hold(way) })
}

/** Breaks the connections of one process to Redis in the middle of an answer. */
export async function halveAnswers (parts: FaultParts): Promise<void> {
  await breakNetwork(parts, 'breaks in the middle of an answer', network => { network.halve() })
}

/** Lets everything through later between one process and Redis. */
export async function slowNetwork (parts: FaultParts): Promise<void> {
  const lateMs = parts.random.int(50, 2_500)
  await breakNetwork(parts, `makes late by ${lateMs} ms`, network => { network.slow(lateMs) })
}

/** Breaks the way of one process to Redis, for longer than its locks last or not. A run that overlaps another one then is a fault. */
async function breakNetwork (parts: FaultParts, what: string, fault: (network: Member['network']) => void): Promise<void> {
  await withMember(parts, parts.random.pick(['worker', 'worker', 'api']), async ({ name, network }) => {
    const ms = parts.random.int(300, 9_000)
    parts.world.history.add(`${what} the network of ${name} for ${ms} ms`)
    fault(network)
    await delay(ms)
    network.mend()
    parts.world.history.add(`mends the network of ${name}`)
  })
}

/** Fills the disk that one worker has its temporary files on: it can start nothing. */
export async function fillTemporary ({ world, random }: FaultParts): Promise<void> {
  const member = world.members.find(({ name }) => name === smallWorker)
  if (world.smallTemporary === undefined || member === undefined || member.held) return
  member.held = true
  const ms = random.int(500, 9_000)
  world.history.add(`leaves ${member.name} no room for temporary files for ${ms} ms`)
  const file = join(world.smallTemporary, 'filler')
  try {
    fill(file)
    await delay(ms)
  } finally {
    rmSync(file, { force: true })
    member.held = false
  }
}
