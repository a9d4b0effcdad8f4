import type { QueueView } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useAccess } from '../access/context.ts'
import { Empty } from '../parts/notice.tsx'
import { hrefOf } from '../parts/route.ts'
import { span } from '../parts/times.ts'

/** The queues, with what has not ended in them. */
export function QueueTable ({ queues }: { queues: readonly QueueView[] | undefined }): VNode {
  const { api } = useAccess()
  if (queues?.length === 0) return <Empty title='No queues yet.'><p>A queue is there as soon as a job names it.</p></Empty>
  return (
    <div class='table-frame' aria-busy={queues === undefined}>
      <table class='dense figures-table'>
        <thead><tr><th>Queue</th><th class='number'>Waiting</th><th class='number'>Running</th><th class='number wide'>Later</th><th class='number'>Oldest</th><th class='number'>Workers</th></tr></thead>
        <tbody>
          {queues?.map(({ name, paused, waiting, running, delayed, blocked, oldest_sec: oldest, workers }) => (
            <tr key={name}>
              <td><a href={hrefOf(['jobs'], { queue: name })}>{name}</a>{paused && <> <a class='tag problem' href={`${api.base}/dashboard/queue/${encodeURIComponent(name)}`} title='Its jobs wait until it is resumed in the queue dashboard'>paused</a></>}</td>
              <td class='number'>{waiting}</td>
              <td class='number'>{running}</td>
              <td class='number wide' title={`${delayed} not due yet, ${blocked} waiting for other jobs`}>{delayed + blocked}</td>
              <td class='number'>{oldest === 0 ? '–' : span(oldest * 1_000)}</td>
              <td class='number'>{workers === 0 ? <strong class='problem'>none</strong> : workers}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
