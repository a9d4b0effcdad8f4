import type { Statistics } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import { Chart } from '../parts/chart.tsx'
import { duration } from '../parts/times.ts'
import { columnsOf, type Columns } from './series.ts'

const quantiles = [{ label: 'half below', tone: 'accent' }, { label: '95 % below', tone: 'warn' }] as const
/** Before anything is known: an hour of nothing. */
const nothing = (): Columns => [[Date.now() / 1_000 - 3_600, Date.now() / 1_000], [null, null], [null, null]]

export function StatisticsCharts ({ statistics, now }: { statistics: Statistics | undefined, now: Columns | undefined }): VNode {
  const { calls, waiting, running } = useMemo(() => (
    statistics === undefined ? { calls: nothing(), waiting: nothing(), running: nothing() } : columnsOf(statistics)
  ), [statistics])
  const empty = statistics === undefined ? 'Loading …' : 'No call ended in this time.'
  const count = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 1 })
  return (
    <div class='charts'>
      <Chart title='Calls that ended, by minute' lines={[{ label: 'calls', tone: 'accent' }, { label: 'errors', tone: 'bad' }]} columns={calls} format={count} least={4} empty={empty} />
      {now !== undefined && <Chart title='Jobs that run and wait' lines={[{ label: 'running', tone: 'accent' }, { label: 'waiting', tone: 'warn' }]} columns={now} format={count} least={4} empty='Nothing waits or runs.' />}
      <Chart title='How long calls waited' lines={quantiles} columns={waiting} format={duration} least={10} empty={empty} />
      <Chart title='How long they ran' lines={quantiles} columns={running} format={duration} least={10} empty={empty} />
    </div>
  )
}
