import { workflowClock } from '@toolyard/executors'
import fc from 'fast-check'
import t from 'tap'

const hour = 3_600_000

void t.test('the time of a workflow ends as planned where nobody was waited for', async t => {
  t.strictSame(workflowClock(1_000, [], 999), { until: 1_000, latest: 1_000, isOver: false })
  t.strictSame(workflowClock(1_000, [], 1_000), { until: 1_000, latest: 1_000, isOver: true })
})

void t.test('two steps that wait at once stop the time once', async t => {
  t.equal(workflowClock(1_000, [{ from: 100, to: 300, ends: hour }, { from: 200, to: 400, ends: hour }], 900).until, 1_300)
})

void t.test('while a step waits the time is never over, and what is left then begins when nobody waits any more', async t => {
  t.strictSame(workflowClock(1_000, [{ from: 600, ends: hour }], 5_000), { until: 5_400, latest: hour + 400, isOver: false })
})

void t.test('the time is over exactly when so much time has gone in which nobody was waited for', async t => {
  const span = fc.tuple(fc.nat(200), fc.nat(100)).map(([from, length]) => ({ from, to: from + length, ends: hour }))
  await fc.assert(fc.asyncProperty(fc.array(span, { maxLength: 5 }), fc.nat(200), fc.nat(600), async (waits, planned, now) => {
    const past = waits.map(wait => ({ ...wait, to: Math.min(wait.to, now) })).filter(({ from, to }) => from < to)
    const gone = Array.from({ length: now }, (_, at) => at).filter(at => !past.some(({ from, to }) => at >= from && at < to)).length
    t.equal(workflowClock(planned, past, now).isOver, gone >= planned)
  }))
})
