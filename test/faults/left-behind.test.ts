import { orElse } from '@toolyard/contract/terms'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { python } from '../python/fixture.ts'
import { withoutBox } from '../sandbox/boxed-tools.ts'
import { waitFor } from '../support/condition.ts'

const skip = await withoutBox()
const doomed = join(import.meta.dirname, 'doomed-worker.js')
/** More of them: TOOLYARD_TEST_KILLS=2000 TOOLYARD_TEST_SEED=7 node test/build/faults/left-behind.test.js */
const kills = Number(process.env['TOOLYARD_TEST_KILLS'] ?? 24)
const seed = Number(process.env['TOOLYARD_TEST_SEED'] ?? process.hrtime.bigint() % 1_000_000n)
/** Later moments, in milliseconds, are those of boxes that have begun to run. */
const latestMs = 1_200
const together = 2

t.setTimeout(600_000 + kills * 5_000)

/** Who is killed, and in which order; the first is the worker. */
const orders: Record<string, (family: number[]) => number[]> = {
  'the whole family, the worker first': family => family,
  'the whole family, the worker last': family => family.toReversed(),
  'the worker alone': family => family.slice(0, 1),
  'the worker and its helper': family => family.slice(0, family.length > 1 ? 4 : 1),
  'all but the worker, then the worker': family => [...family.slice(1), ...family.slice(0, 1)]
}

void t.test(`a worker that is killed at any moment, with any of its processes, leaves no process (seed ${seed})`, { skip }, async t => {
  const random = generator(seed)
  let left = kills
  let boxes = 0
  await Promise.all(Array.from({ length: together }, async () => {
    while (left-- > 0) {
      const [name, order] = Object.entries(orders)[Math.floor(random() * Object.keys(orders).length)] ?? ['', (family: number[]) => family]
      const round = { ms: Math.floor(random() * latestMs), withPython: python.skip === false && random() < 0.5 }
      const { remaining, killed, level } = await killAt(round, order)
      if (level !== undefined) t.equal(level, 'full')
      boxes += killed
      t.strictSame(remaining, [], `${name}, after ${round.ms} ms`)
    }
  }))
  t.comment(`${kills} workers were killed, with ${boxes} boxes in all`)
})

void t.test(`a worker that is killed while warm processes and boxes wait leaves none, and none of them runs a call then (seed ${seed})`, { skip }, async t => {
  const random = generator(seed)
  for (let left = Math.ceil(kills / 2); left > 0; left--) {
    const [name, order] = Object.entries(orders)[left % Object.keys(orders).length] ?? ['', (family: number[]) => family]
    const ms = 2 * Math.floor(random() * latestMs)
    const { remaining, called } = await killAt({ ms, withPython: false, warm: true }, order)
    t.strictSame([remaining, called], [[], false], `${name}, after ${ms} ms`)
  }
})

void t.test('a worker that is killed before its helper has opened the stdin of a process that stays open leaves no process', { skip }, async t => {
  const base = makeBase()
  const worker = spawn(process.execPath, [doomed, base, 'warm'], { env: marked(base), stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  const exited = once(worker, 'exit')
  try {
    await once(worker.stdout, 'data')
    const helper = await waitFor('the helper runs', () => familyOf(worker.pid ?? 0).findLast(pid => /helper\.js\0boxed/.test(commandOf(pid)) && !/unshare|\0-c\0/.test(commandOf(pid))))
    await waitFor('a process with an open stdin is to be started', () => {
      process.kill(helper, 'SIGSTOP')
      const isAsked = openOf(worker.pid ?? 0).some(path => path.endsWith('-in'))
      if (!isAsked) process.kill(helper, 'SIGCONT')
      return isAsked
    })
    await waitFor('later ones wait as well', () => openOf(worker.pid ?? 0).filter(path => path.endsWith('-out')).length > 2)
    kill(worker.pid ?? 0)
    await exited
    process.kill(helper, 'SIGCONT')
    await waitFor('nothing of the worker is left', () => commandsOf(base).length === 0)
    t.pass()
  } finally {
    for (const pid of idsOf(base)) kill(pid)
    rmSync(base, { recursive: true, force: true })
  }
})

interface Round {
  ms: number
  withPython: boolean
  warm?: true
}

async function killAt (
  { ms, withPython, warm }: Round, order: (family: number[]) => number[]
): Promise<{ remaining: string[], killed: number, level: string | undefined, called: boolean }> {
  const base = makeBase()
  const worker = spawn(process.execPath, [doomed, base, warm === true ? 'warm' : withPython ? 'python' : ''], { env: marked(base), stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  const exited = once(worker, 'exit')
  try {
    // Half of them while it looks at what there is, half while it runs tools.
    const level = ms % 2 === 0 ? String((await once(worker.stdout, 'data'))[0]).trim() : undefined
    await sleep(ms)
    writeFileSync(join(base, 'workspace/stay'), '')
    const family = familyOf(worker.pid ?? 0)
    for (const pid of order(family)) kill(pid)
    kill(worker.pid ?? 0)
    await exited
    const remaining = await waitFor('nothing of the worker is left', () => commandsOf(base).length === 0, 5_000).then(() => [], () => commandsOf(base))
    return { remaining, killed: Math.max(0, family.length - 4), level, called: existsSync(join(base, 'workspace/called')) }
  } finally {
    for (const pid of idsOf(base)) kill(pid)
    rmSync(base, { recursive: true, force: true })
  }
}

function makeBase (): string {
  const base = mkdtempSync(join(tmpdir(), 'toolyard-doomed-'))
  for (const name of ['workspace', 'python', 'tmp', 'bin']) mkdirSync(join(base, name))
  writeFileSync(join(base, 'python/sleeper.py'), 'import os\nimport time\nfrom toolyard import Tool\n\nclass Sleeper(Tool):\n    def execute(self):\n        if os.path.exists("stay"):\n            time.sleep(7200)\n')
  return base
}

/** By the directory in its PATH, everything that descends from it is known. */
function marked (base: string): NodeJS.ProcessEnv {
  return { PATH: `${process.env['PATH'] ?? ''}:${join(base, 'bin')}`, HOME: process.env['HOME'], TMPDIR: join(base, 'tmp') }
}

function idsOf (base: string): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isSafeInteger).filter(pid => {
    try {
      // A zombie has neither.
      return ['environ', 'cmdline'].some(name => readFileSync(`/proc/${pid}/${name}`, 'latin1').includes(base))
    } catch {
      return false
    }
  })
}

function commandsOf (base: string): string[] {
  return idsOf(base).map(commandOf).filter(command => command !== '')
}

function commandOf (pid: number): string {
  return orElse(() => readFileSync(`/proc/${pid}/cmdline`, 'latin1'), '')
}

/** Where the descriptors of a process lead to. */
function openOf (pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap(fd => orElse(() => readlinkSync(`/proc/${pid}/fd/${fd}`), []))
}

/** A process and its descendants, parents before children. */
function familyOf (pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(part => part !== '').map(Number)
    return [pid, ...children.flatMap(familyOf)]
  } catch {
    return []
  }
}

function kill (pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function generator (seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
