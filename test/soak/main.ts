import { parseArgs } from 'node:util'
import { act } from './operations.ts'
import { Caller } from './caller.ts'
import { Ledger } from './calls.ts'
import { checkOutcomes } from './checks.ts'
import type { Interval } from './fault.ts'
import { disturb, heal } from './faults.ts'
import { History } from './history.ts'
import { checkLeftovers } from './leftovers.ts'
import { Random } from './random.ts'
import { keepEvidence, report } from './report.ts'
import { openWorld } from './world.ts'

/*
 * A soak: actors do at random everything that the API can do, while processes are killed and stopped, or cut off from Redis
 * alone, clocks jump, a worker's disk is full, and Redis fails over and runs out of memory and disk. At the end all promises
 * are checked. The seed repeats the choices; how they meet in time is the machine's.
 */

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '15' }, seed: { type: 'string' }, actors: { type: 'string', default: '6' } } })
const minutes = Number(values.minutes)
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
const actors = Number(values.actors)
if (!(minutes > 0) || !Number.isInteger(seed) || !Number.isInteger(actors) || actors < 1) {
  console.error('usage: npm run test:soak -- [--minutes N] [--seed N] [--actors N]')
  process.exit(2)
}
const say = (line: string): void => { console.log(line) }
say(`soak of ${minutes} minutes, seed ${seed}, ${actors} actors`)

const steps: Array<() => unknown> = []
const history = new History()
const ledger = new Ledger(history, say)
const intervals: Interval[] = []
const opening = openWorld({ teardown: step => steps.unshift(step) }, history, say)
let ending: Promise<void> | undefined
// One that is ended early still says what it doubts. What is being started can be ended once it runs.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    say(`ended by ${signal} after ${Math.round(history.now() / 1_000)} s`)
    void opening.catch(() => {}).then(tearDown).then(() => { report({ ledger, seed, say }) })
  })
}
try {
  const world = await opening
  steps.unshift(() => { keepEvidence({ world, ledger, seed, say }) })
  const random = new Random(seed)
  const endsAt = performance.now() + minutes * 60_000
  const isOver = (): boolean => performance.now() > endsAt
  const progress = setInterval(() => { say(`${Math.round(history.now() / 1_000)} s: ${ledger.asks.length} calls, ${ledger.doubts.length} doubts`) }, 60_000)
  steps.push(() => { clearInterval(progress) })
  const faults = disturb({ world, ledger, random: random.fork(), intervals }, isOver)
  await Promise.all(Array.from({ length: actors }, (_, index) => {
    const own = random.fork()
    return act({ world, ledger, random: own, caller: new Caller(world, ledger, own.fork()), count: 0, name: `soak-${seed}-${index}` }, isOver)
  }))
  await faults
  history.add('all is healed')
  await heal(world)
  await checkOutcomes(world, ledger, new Caller(world, ledger, random.fork()), intervals)
  await checkLeftovers(world, ledger)
} catch (error) {
  ledger.doubt(`the soak failed: ${error instanceof Error ? error.stack ?? error.message : String(error)}`)
}
await tearDown()
report({ ledger, seed, say })

/** Once, whoever asks: the process ends when it is done. */
async function tearDown (): Promise<void> {
  ending ??= (async () => { for (const step of steps) await step() })()
  await ending
}
