import { spawn } from 'node:child_process'
import { pbkdf2 } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { estimateUsed, familyOf, processorMs, watchProcessorTime, type Look } from '@toolyard/sandbox'
import { python } from '../python/fixture.ts'
import { waitFor } from '../support/condition.ts'

const lookMs = 500
type Files = NonNullable<Parameters<typeof t.testdir>[0]>

/** The report about a call that used `usedAt(ms)` until then, when it is first looked at after `phase`. */
function told (usedAt: (ms: number) => number, ranMs: number, phase: number): number {
  const looks: Look[] = [{ atMs: 0, usedMs: 0 }]
  for (let atMs = phase; atMs < ranMs; atMs += lookMs) looks.push({ atMs, usedMs: usedAt(atMs) })
  return estimateUsed(looks.slice(-2), ranMs)
}

/** The mean over first looks at all times. */
function mean (usedAt: (ms: number) => number, ranMs: number): number {
  const phases = Array.from({ length: 2_000 }, (_, index) => (index + 0.5) * lookMs / 2_000)
  return phases.reduce((sum, phase) => sum + told(usedAt, ranMs, phase), 0) / phases.length
}

t.test('calls of any length that use the processor evenly are counted right in the mean', async t => {
  const lengths = fc.integer({ min: 5, max: 20_000 })
  await t.resolves(fc.assert(fc.asyncProperty(lengths, fc.double({ min: 0, max: 8, noNaN: true }), async (ranMs, rate) => {
    // A first look within the first millisecond counts as one after it: half a millisecond too little.
    return Math.abs(mean(ms => rate * ms, ranMs) - rate * ranMs) <= 0.5 * rate + 0.001
  })))
})

t.test('the estimate for a call of several seconds is off by at most what is used between three looks', async t => {
  const steps = fc.array(fc.double({ min: 0, max: 4, noNaN: true }), { minLength: 4, maxLength: 40 })
  await t.resolves(fc.assert(fc.asyncProperty(steps, fc.integer({ min: 1, max: lookMs - 1 }), async (rates, phase) => {
    const within = (ms: number, step: number): number => Math.min(lookMs, Math.max(0, ms - step * lookMs))
    const usedAt = (ms: number): number => rates.reduce((sum, rate, step) => sum + rate * within(ms, step), 0)
    const ranMs = rates.length * lookMs
    return Math.abs(told(usedAt, ranMs, phase) - usedAt(ranMs)) <= 4 * lookMs
  })))
})

t.test('a call that was never looked at counts nothing, and every estimate is a finite number, not below 0', async t => {
  t.equal(estimateUsed([{ atMs: 0, usedMs: 0 }], 3), 0)
  const look = fc.record({ atMs: fc.integer({ min: 0, max: 10_000 }), usedMs: fc.integer({ min: 0, max: 10_000 }) })
  const lengths = fc.integer({ min: 0, max: 10_000 })
  await t.resolves(fc.assert(fc.asyncProperty(fc.array(look, { maxLength: 2 }), lengths, async (looks, ranMs) => {
    const [earlier = { atMs: 0, usedMs: 0 }, later = earlier] = looks
    const last = { atMs: Math.max(earlier.atMs, later.atMs), usedMs: Math.max(earlier.usedMs, later.usedMs) }
    const estimate = estimateUsed([earlier, last], Math.max(ranMs, last.atMs))
    return Number.isFinite(estimate) && estimate >= 0
  })))
})

t.test('promise 10: of thousands of children or threads a look takes as many as one turn of the event loop bears', async t => {
  const tick = `1 (x) ${'0 '.repeat(11)}1 0 0 0 0`
  const process = (...threads: number[][]): Files => ({ stat: tick, task: Object.fromEntries(threads.map((children, thread) => [String(thread), { children: children.join(' ') }])) })
  const few = Object.fromEntries(Array.from({ length: 400 }, (_, index) => [String(index + 2), process([])]))
  const threads = Array.from({ length: 300 }, (): number[] => [])
  const proc = t.testdir({
    wide: { 1: process(Object.keys(few).map(Number)), ...few },
    threaded: { 1: process(...threads, [2]), 2: process([]) },
    small: { 1: process([2], [3]), 2: process([4]), 3: process([]), 4: process([]) }
  })
  t.equal(processorMs(1, join(proc, 'wide')), 128 * 10, 'of 400 children')
  t.match(familyOf(1, join(proc, 'wide')), { whole: false, pids: { length: 128 } })
  t.equal(familyOf(1, join(proc, 'threaded')).whole, false)
  t.same(familyOf(1, join(proc, 'small')), { pids: [1, 2, 3, 4], whole: true })
})

t.test('looks at many calls that have many processes take a small part of the event loop together', async t => {
  let looks = 0
  const longLook = (): undefined => {
    looks += 1
    const until = performance.now() + 10
    while (performance.now() < until);
  }
  const ends = Array.from({ length: 20 }, () => watchProcessorTime(longLook))
  await sleep(4 * lookMs)
  t.equal(looks, ends.length, 'each call is looked at once in 2 s')
  for (const end of ends) t.equal(end(), 0)
})

t.test('calls with few processes are looked at again and again, also where the threads of Node have much to do', async t => {
  const child = spawn('sleep', ['600'])
  let looks = 0
  const ends = Array.from({ length: 8 }, () => watchProcessorTime(() => { looks += 1; return child.pid }))
  let isBusy = true
  const work = (): void => { if (isBusy) pbkdf2('a', 'b', 60_000, 64, 'sha512', work) }
  for (let thread = 0; thread < 8; thread++) work()
  t.teardown(() => { isBusy = false; child.kill('SIGKILL') })
  await waitFor('each is looked at three times', () => looks >= 3 * ends.length, 60_000)
  for (const end of ends) end()
})

t.test('a process counts with those that it started, also those that have ended', { skip: python.skip }, async t => {
  const script = 'import os, sys, time\ndef burn():\n    until = time.process_time() + 0.3\n    while time.process_time() < until: pass\n' +
    'pid = os.fork()\nif pid == 0:\n    burn()\n    os._exit(0)\nos.waitpid(pid, 0)\n' +
    'if os.fork() == 0:\n    burn()\n    print("up", flush=True)\n    time.sleep(600)\nburn()\ntime.sleep(600)\n'
  const child = spawn('python3', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  t.teardown(() => process.kill(-(child.pid ?? 0), 'SIGKILL'))
  await once(child.stdout, 'data')
  const used = processorMs(child.pid ?? 0)
  t.ok(used >= 550 && used < 2_000, `${used} ms`)
  t.equal(processorMs(2 ** 22 + 1), 0)
})
