import type { QueueView, Statistics, WorkerList } from '@toolyard/contract'
import type { VNode } from 'preact'
import { hrefOf } from '../parts/route.ts'
import { duration } from '../parts/times.ts'

interface FiguresProps {
  statistics: Statistics | undefined
  queues: readonly QueueView[] | undefined
  workers: WorkerList | undefined
}

export function Figures ({ statistics, queues, workers }: FiguresProps): VNode {
  const total = statistics?.total
  const sum = (name: 'waiting' | 'running'): string => queues === undefined ? '–' : number(queues.reduce((all, queue) => all + queue[name], 0))
  const rate = total?.error_rate ?? null
  return (
    <dl class='figures'>
      <Figure name='Calls per minute' value={total === undefined ? '–' : number(total.calls_per_minute)} note={total === undefined ? '' : `${number(total.calls)} in all`} />
      <Figure
        name='Errors' value={rate === null ? '–' : `${(rate * 100).toFixed(rate < 0.1 ? 1 : 0)} %`} note={total === undefined ? '' : number(total.errors)}
        href={hrefOf(['jobs'], { status: 'failed' })} isBad={rate !== null && rate >= 0.1}
      />
      {queues !== undefined && <Figure name='Waiting now' value={sum('waiting')} note={`95 % waited below ${ms(total?.waiting_ms.p95)}`} href={hrefOf(['jobs'], { status: 'queued' })} />}
      {queues !== undefined && <Figure name='Running now' value={sum('running')} note={`95 % ran below ${ms(total?.running_ms.p95)}`} href={hrefOf(['jobs'], { status: 'running' })} />}
      {queues === undefined && <Figure name='Waited' value={ms(total?.waiting_ms.p50)} note={`95 % below ${ms(total?.waiting_ms.p95)}`} />}
      {queues === undefined && <Figure name='Ran' value={ms(total?.running_ms.p50)} note={`95 % below ${ms(total?.running_ms.p95)}`} />}
      {workers !== undefined && <Figure name='Workers' value={number(workers.count)} note={runsOf(workers)} href={hrefOf(['workers'])} isBad={workers.count === 0} />}
    </dl>
  )
}

function Figure ({ name, value, note, href, isBad }: { name: string, value: string, note: string, href?: string, isBad?: boolean }): VNode {
  return (
    <div class={isBad === true ? 'figure bad' : 'figure'}>
      <dt>{href === undefined ? name : <a href={href}>{name}</a>}</dt>
      <dd><strong>{value}</strong> <span class='soft small'>{note}</span></dd>
    </div>
  )
}

function runsOf ({ workers }: WorkerList): string {
  const sum = (which: 'used' | 'total'): number => workers.reduce((all, { places }) => all + (places?.[which] ?? 0), 0)
  return `run ${number(sum('used'))} of ${number(sum('total'))} calls at once`
}

function ms (value: number | null | undefined): string {
  return value === null || value === undefined ? '–' : duration(value)
}

function number (value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })
}
