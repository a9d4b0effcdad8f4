import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { stages } from '../stages.ts'
import { isQuiet, othersOf, startMeter, type ProcessTicks } from './meter.ts'
import { readOptions } from './options.ts'
import { comparisonOf, readReport, writeReport } from './report-file.ts'
import { middleOf, resultOf, type RowResult } from './result.ts'
import { ratioAtLeast, ratioAtMost, valueAtMost, type RowInfo, type Stage } from './row.ts'
import { runStage } from './run-stage.ts'
import { tableOf } from './table.ts'

const names = { name: 'one', stage: 'some' }
const info: RowInfo = { what: 'something', yardstick: 'something bare', unit: 'ms', target: ratioAtMost(1.2) }
const quiet = { others: 0, isQuick: false }

function ratios (...numbers: number[]): RowResult {
  return resultOf(names, info, numbers.map(number => ({ yardstick: 2, subject: 2 * number })), quiet)
}

t.test('a row is judged by the ratio in the middle, so that one disturbed round changes nothing', async t => {
  t.match(ratios(1.1, 1.1, 9), { verdict: 'reached', ratio: { median: 1.1 } })
  t.match(ratios(1.1, 1.3, 1.3), { verdict: 'missed' })
  const faster = resultOf(names, { ...info, target: ratioAtLeast(0.9) }, [{ yardstick: 10, subject: 8 }], quiet)
  t.equal(faster.verdict, 'missed')
})

t.test('a row without a yardstick is judged by its own number', async t => {
  const rounds = [{ subject: 90 }, { subject: 91 }, { subject: 100 }]
  t.match(resultOf(names, { what: 'memory', unit: 'MB', target: valueAtMost(91) }, rounds, quiet), { verdict: 'reached', subjectMiddle: { median: 91 } })
})

t.test('a row that other programs have disturbed is not judged, unless it is a size', async t => {
  const busy = { others: 64, isQuick: false }
  t.equal(resultOf(names, info, [{ yardstick: 1, subject: 1 }], busy).verdict, 'busy')
  t.equal(resultOf(names, { what: 'memory', unit: 'MB', target: valueAtMost(1) }, [{ subject: 1 }], busy).verdict, 'reached')
})

t.test('a quick run judges nothing', async t => {
  t.equal(resultOf(names, info, [{ yardstick: 1, subject: 9 }], { others: 0, isQuick: true }).verdict, 'not judged')
})

t.test('the middle lies between the quartiles, and these between the least and the most', async t => {
  fc.assert(fc.property(fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { minLength: 1 }), numbers => {
    const { low, median, high } = middleOf(numbers)
    const slack = 1e-6
    return Math.min(...numbers) - slack <= low && low <= median + slack && median <= high + slack && high <= Math.max(...numbers) + slack
  }))
})

t.test('the work of this process is not that of others', { skip: process.platform !== 'linux' }, async t => {
  const meter = startMeter()
  t.equal(meter.others(), undefined)
  await sleep(600)
  t.type(meter.others(), 'number')
  t.ok(isQuiet(0))
  t.notOk(isQuiet(1_000))
})

t.test('processes of others count with their ended children; descendants, the kernel and what init has taken in do not', async t => {
  const process = (pid: number, parent: number, own: number, children = 0): ProcessTicks => ({ pid, parent, own, children })
  // A child may have a smaller number than its parent.
  const family = [process(90, 10, 1_000, 1_000), process(50, 90, 1_000), process(40, 50, 1_000)]
  t.equal(othersOf([process(1, 0, 1, 1_000), process(2, 0, 1_000), process(3, 2, 1_000), process(10, 1, 20, 300), ...family], 90), 321)
})

const rows = { one: info, two: info }

t.test('yardstick and subject take turns, and a row that fails leaves the others', async t => {
  const order: string[] = []
  const side = (name: string) => async () => order.push(name)
  const stage: Stage = {
    title: '',
    rows,
    open: async () => ({ one: { yardstick: side('bare'), subject: side('ours'), rounds: 2 }, two: { subject: async () => { throw new Error('no luck') } } })
  }
  const results = await runStage('some', stage, { rows: new Set(['one', 'two']), isQuick: false })
  t.same(order, ['bare', 'ours', 'bare', 'ours'])
  t.match(results, [{ name: 'one', rounds: [{ yardstick: 1, subject: 2 }, { yardstick: 3, subject: 4 }] }, { name: 'two', verdict: 'failed', reason: 'no luck' }])
})

t.test('what a stage has started is stopped, also when it fails to open; then all of its rows have failed', async t => {
  let stopped = false
  const stage: Stage = {
    title: '',
    rows,
    open: async ({ cleanup }) => {
      cleanup.teardown(() => { stopped = true })
      throw new Error('no Redis')
    }
  }
  t.match(await runStage('some', stage, { rows: new Set(['two']), isQuick: true }), [{ name: 'two', verdict: 'failed', reason: 'no Redis' }])
  t.ok(stopped)
})

const two: Record<string, Stage> = {
  light: { title: '', rows, open: async () => ({}) },
  heavy: { title: '', isHeavy: true, rows: { three: info }, open: async () => ({}) }
}

t.test('heavy rows run where they are named, with --all, and in a quick run', async t => {
  for (const [argv, chosen] of [
    [[], ['one', 'two']], [['--all'], ['one', 'two', 'three']], [['--quick'], ['one', 'two', 'three']],
    [['--only', 'two,heavy'], ['two', 'three']], [['light'], ['one', 'two']]
  ] as const) t.same([...readOptions(argv, two).rows], chosen, argv.join(' '))
})

t.test('an unknown name or option is an error that lists the known ones', async t => {
  t.throws(() => readOptions(['--only', 'four'], two), { message: /no row or stage is called 'four'; .*\n {2}light: one, two\n {2}heavy: three/ })
  t.throws(() => readOptions(['--fast'], two), { message: /--fast.*\nOptions: --only/s })
})

t.test('a report is read as it was written, and compared by ratios; a change within the spread does not count', async t => {
  const file = join(t.testdir(), 'bench.json')
  writeReport(file, [ratios(1, 1.1, 1.2), { ...ratios(1, 1, 1), name: 'same' }], 3)
  const before = readReport(file)
  t.match(before, { version: 1, seconds: 3, results: [{ name: 'one', ratio: { median: 1.1 } }, { name: 'same' }] })
  const text = comparisonOf(before, [ratios(2.2, 2.2, 2.2), { ...ratios(0.9, 1, 1.1), name: 'same' }, { ...ratios(1), name: 'new' }])
  t.match(text, /`one` +\| ratio \| 1.10 +\| 2.20 +\| 100 % +\| yes/)
  t.match(text, /`same` .*within the spread/)
  t.notMatch(text, 'new')
})

t.test('a file that is no report is refused by its name', async t => {
  const file = join(t.testdir({ 'bad.json': '{"version":1' }), 'bad.json')
  t.throws(() => readReport(file), { message: /bad\.json: .*name the JSON file of an earlier run/ })
  writeFileSync(file, '{"version":0}')
  t.throws(() => readReport(file), { message: /no report of version 1/ })
})

t.test('a table has a line for each row, also for one that failed with a text of several lines', async t => {
  const lines = tableOf([ratios(1), { ...names, ...info, verdict: 'failed', reason: 'a|b\nc', rounds: [] }]).split('\n')
  t.equal(lines.length, 4)
  t.equal(new Set(lines.map(line => line.length)).size, 1)
  t.match(lines[3], /failed: a\/b c/)
})

t.test('docs/performance.md names every row, and no other', async t => {
  const page = readFileSync(fileURLToPath(new URL('../../../../docs/performance.md', import.meta.url)), 'utf8')
  const told = new Set([...page.matchAll(/^\| `(\w[\w-]*)`/gm)].map(([, name]) => name))
  t.strictSame([...told].sort(), Object.values(stages).flatMap(stage => Object.keys(stage.rows)).sort())
})

t.test('no two stages have a row of the same name', async t => {
  const all = Object.values(stages).flatMap(stage => Object.keys(stage.rows))
  t.equal(new Set([...all, ...Object.keys(stages)]).size, all.length + Object.keys(stages).filter(name => !all.includes(name)).length)
  t.equal(new Set(all).size, all.length)
})
