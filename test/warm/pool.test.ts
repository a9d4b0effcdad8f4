import { createDemand, targetsOf, WarmPool, type Ready, type WarmTool } from '@toolyard/executors'
import fc from 'fast-check'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { waitFor } from '../support/condition.ts'

const call = { plan: { program: '/bin/true', args: [], env: {}, cwd: '/' }, stdin: '{}' }

interface Process extends Ready<number> {
  id: number
  state: 'waiting' | 'served' | 'ended'
}

/** A pool whose processes are objects, and a clock that the test sets. */
function fakePool (t: Test, { maxBytes = 100, spare = 1 } = {}) {
  const world = { now: 0, processes: [] as Process[], starting: 0, mostStarting: 0, startedWhileRunning: [] as number[], running: 0, fingerprint: 'one', unfit: [] as string[] }
  const pool = new WarmPool<number>({ maxBytes, maxIdleMs: 60_000, spare, now: () => world.now, onUnfit: (tool, reason) => { world.unfit.push(`${tool}: ${reason}`) } })
  t.teardown(async () => { await pool.close() })
  const tool = (warm: number | 'auto', bytes = 10): WarmTool<number> => ({
    warm,
    fingerprint: async () => await Promise.resolve(world.fingerprint),
    async start () {
      world.startedWhileRunning.push(world.running)
      world.starting += 1
      world.mostStarting = Math.max(world.mostStarting, world.starting)
      await sleep(1)
      world.starting -= 1
      const process: Process = {
        kind: 'ready',
        id: world.processes.length,
        bytes,
        state: 'waiting',
        serve () {
          if (process.state !== 'waiting') return undefined
          process.state = 'served'
          return process.id
        },
        async end () {
          if (process.state === 'served') throw new Error('ended after its call had begun')
          process.state = 'ended'
          await Promise.resolve()
        }
      }
      world.processes.push(process)
      return process
    }
  })
  const waiting = (): Process[] => world.processes.filter(({ state }) => state === 'waiting')
  const take = async (name: string): Promise<number | undefined> =>
    await pool.take(name, async () => await Promise.resolve(world.fingerprint), call, () => {})
  return { pool, world, tool, waiting, take }
}

void t.test('a pool keeps as many processes as a tool asks for, and replaces one that has served', async t => {
  const { pool, tool, waiting, take } = fakePool(t)
  pool.keep(new Map([['a', { tool: tool(3), digest: '1' }]]))
  await waitFor('three wait', () => waiting().length === 3)
  const ended = pool.began('a')
  t.equal(await take('a'), 0)
  ended()
  await waitFor('another one waits', () => pool.waiting('a') === 3)
})

void t.test('a pool starts no process while as many calls run as there are processors', async t => {
  const { pool, world, tool, waiting } = fakePool(t, { spare: 1 })
  const ends = [pool.began('other'), pool.began('other')]
  pool.keep(new Map([['a', { tool: tool(1), digest: '1' }]]))
  await sleep(30)
  pool.renew()
  t.equal(world.processes.length, 0)
  ends[0]?.()
  await waitFor('one waits', () => waiting().length === 1)
  ends[1]?.()
})

void t.test('a pool ends a process that no longer fits the call, and serves that call cold', async t => {
  const { pool, world, tool, waiting, take } = fakePool(t)
  pool.keep(new Map([['a', { tool: tool(2), digest: '1' }]]))
  await waitFor('two wait', () => pool.waiting('a') === 2)
  world.fingerprint = 'two'
  t.equal(await take('a'), undefined)
  t.equal(waiting().length, 0)
})

void t.test('a pool ends the processes of a tool whose declaration changed, or that is gone', async t => {
  const { pool, world, tool, waiting } = fakePool(t)
  pool.keep(new Map([['a', { tool: tool(1), digest: '1' }], ['b', { tool: tool(1), digest: '1' }]]))
  await waitFor('both wait', () => waiting().length === 2)
  pool.keep(new Map([['a', { tool: tool(1), digest: '2' }]]))
  await waitFor('a new one waits', () => world.processes.length === 3)
  t.same(waiting().map(({ id }) => id), [2])
})

void t.test('a pool replaces processes that have waited too long', async t => {
  const { pool, world, tool, waiting } = fakePool(t)
  pool.keep(new Map([['a', { tool: tool(1), digest: '1' }]]))
  await waitFor('one waits', () => pool.waiting('a') === 1)
  world.now = 60_000
  pool.renew()
  await waitFor('the next one waits', () => pool.waiting('a') === 1 && waiting()[0]?.id === 1)
})

void t.test('a tool that can\'t be kept ready is reported once, and is tried again when it has changed', async t => {
  const { pool, world, tool, take } = fakePool(t)
  let fit = false
  const real = tool(1)
  pool.keep(new Map([['a', { digest: '1', tool: { ...real, start: async signal => fit ? await real.start(signal) : { kind: 'unfit', reason: 'it prints', passing: false } } }]]))
  await waitFor('it is told', () => world.unfit.length > 0)
  const lines: string[] = []
  for (let count = 0; count < 3; count++) {
    const ended = pool.began('a')
    t.equal(await pool.take('a', async () => await Promise.resolve(world.fingerprint), call, line => { lines.push(line) }), undefined)
    ended()
  }
  t.same([world.unfit, lines], [['a: it prints'], ['[warm: this tool can\'t be kept ready, since it prints]']])
  fit = true
  world.fingerprint = 'two'
  const ended = pool.began('a')
  t.equal(await take('a'), undefined)
  ended()
  await waitFor('it is ready', () => pool.waiting('a') === 1)
})

void t.test('a process that takes more memory than all together may is ended and reported', async t => {
  const { pool, world, tool, waiting } = fakePool(t, { maxBytes: 5 })
  pool.keep(new Map([['a', { tool: tool(1, 10), digest: '1' }]]))
  await waitFor('it is told', () => world.unfit.length === 1)
  t.match(world.unfit[0], /WARM_MAX_MB/)
  t.equal(waiting().length, 0)
})

void t.test('a closed pool has no process and starts none', async t => {
  const { pool, tool, waiting } = fakePool(t)
  pool.keep(new Map([['a', { tool: tool(3), digest: '1' }]]))
  await waitFor('one waits', () => waiting().length > 0)
  await pool.close()
  pool.keep(new Map([['a', { tool: tool(3), digest: '1' }]]))
  await sleep(20)
  t.equal(waiting().length, 0)
})

void t.test('whatever happens, a process serves at most one call, the number that wait is bounded, and a closed pool leaves none', async t => {
  const names = ['a', 'b'] as const
  const step = fc.oneof(
    fc.record({ kind: fc.constantFrom('call' as const, 'die' as const, 'pause' as const), name: fc.constantFrom(...names) }),
    fc.record({ kind: fc.constant('time' as const), ms: fc.integer({ min: 0, max: 70_000 }) }),
    fc.record({ kind: fc.constant('keep' as const), a: fc.integer({ min: 0, max: 4 }), b: fc.integer({ min: 0, max: 4 }) }),
    fc.record({ kind: fc.constant('change' as const), to: fc.constantFrom('one', 'two') })
  )
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 25 }), async steps => {
    const { pool, world, tool, waiting, take } = fakePool(t, { maxBytes: 50 })
    const served: number[] = []
    const calls: Array<Promise<void>> = []
    let most = 0
    for (const next of steps) {
      if (next.kind === 'time') {
        world.now += next.ms
        pool.renew()
      } else if (next.kind === 'keep') {
        most = Math.max(most, next.a + next.b)
        pool.keep(new Map(names.map(name => [name, { tool: tool(next[name]), digest: String(next[name]) }])))
      } else if (next.kind === 'change') world.fingerprint = next.to
      else if (next.kind === 'pause') await sleep(3)
      else if (next.kind === 'die') {
        const [process] = waiting()
        if (process !== undefined) process.state = 'ended'
      } else {
        const ended = pool.began(next.name)
        world.running += 1
        calls.push((async () => {
          const process = await take(next.name)
          if (process !== undefined) served.push(process)
          world.running -= 1
          ended()
        })())
      }
      if (waiting().length > Math.min(most, 5) + 1) return false
    }
    await Promise.all(calls)
    await pool.close()
    const once = new Set(served).size === served.length
    return once && waiting().length === 0 && world.mostStarting <= 1 && world.startedWhileRunning.every(count => count <= 1)
  }), { numRuns: 40 })
})

void t.test('targets fit into the budget, and tools that were called most recently come first', async () => {
  const bytes = fc.integer({ min: 0, max: 100 })
  const want = fc.record({ count: fc.integer({ min: 0, max: 8 }), bytes, lastCall: fc.integer({ min: 0, max: 1_000 }) })
  const wants = fc.uniqueArray(want, { selector: ({ lastCall }) => lastCall, maxLength: 6 })
  fc.assert(fc.property(wants, fc.integer({ min: 1, max: 500 }), (wants, budget) => {
    const targets = targetsOf(new Map(wants.entries()), budget)
    const taken = wants.reduce((sum, { bytes }, at) => sum + bytes * (targets.get(at) ?? 0), 0)
    const [latest] = [...wants.entries()].sort(([, a], [, b]) => b.lastCall - a.lastCall)
    const fit = latest === undefined || latest[1].bytes === 0 ? Infinity : Math.floor(budget / latest[1].bytes)
    const isFirst = latest === undefined || targets.get(latest[0]) === Math.min(latest[1].count, fit)
    return taken <= budget && isFirst && wants.every(({ count }, at) => (targets.get(at) ?? 0) <= count)
  }))
})

void t.test('a tool with warm "auto" keeps as many as ran at once in the last five minutes, eight at most', async t => {
  const demand = createDemand()
  t.equal(demand.peak(0), 0)
  for (let call = 0; call < 3; call++) demand.began(1_000)
  for (let call = 0; call < 3; call++) demand.ended()
  t.equal(demand.peak(4 * 60_000), 3)
  t.equal(demand.peak(6 * 60_000), 0)
  for (let call = 0; call < 20; call++) demand.began(7 * 60_000)
  t.equal(demand.peak(7 * 60_000), 8)
})
