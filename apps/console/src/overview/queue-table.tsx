import type { QueueView } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Confirm } from '../parts/dialog.tsx'
import { Empty } from '../parts/notice.tsx'
import { hrefOf } from '../parts/route.ts'
import { span } from '../parts/times.ts'

interface QueueTableProps {
  queues: readonly QueueView[] | undefined
  /** Pauses a queue, or resumes it; undefined for a key that may not. */
  onSwitch: ((name: string, paused: boolean) => void) | undefined
}

export function QueueTable ({ queues, onSwitch }: QueueTableProps): VNode {
  const [asked, setAsked] = useState<string>()
  if (queues?.length === 0) return <Empty title='No queues yet.'><p>A queue is there as soon as a job names it.</p></Empty>
  return (
    <div class='table-frame' aria-busy={queues === undefined}>
      <table class='dense figures-table queues'>
        <thead><tr><th>Queue</th><th class='number'>Waiting</th><th class='number'>Running</th><th class='number wide' title='Not due yet, or waiting for other jobs or a person'>Not ready</th><th class='number wide'>Oldest</th><th class='number'>Workers</th>{onSwitch !== undefined && <th class='c-switch'><span class='unseen'>Action</span></th>}</tr></thead>
        <tbody>
          {queues?.map(({ name, paused, waiting, running, delayed, blocked, held, oldest_sec: oldest, workers }) => (
            <tr key={name}>
              <td title={name}><a href={hrefOf(['jobs'], { queue: name })}>{name}</a>{paused && <> <span class='tag problem' title='Its jobs wait until it is resumed'>paused</span></>}</td>
              <td class='number'>{waiting}</td>
              <td class='number'>{running}</td>
              <td class='number wide' title={`${delayed} not due yet, ${blocked} waiting for other jobs, ${held} for a person`}>{delayed + blocked + held}</td>
              <td class='number wide'>{oldest === 0 ? '–' : span(oldest * 1_000)}</td>
              <td class='number'>{workers === 0 ? <strong class='problem'>none</strong> : workers}</td>
              {onSwitch !== undefined && (
                <td class='c-switch'><button type='button' class='quiet' aria-label={`${paused ? 'Resume' : 'Pause'} ${name}`} onClick={() => { if (paused) onSwitch(name, false); else setAsked(name) }}>{paused ? 'Resume' : 'Pause'}</button></td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {asked !== undefined && onSwitch !== undefined && (
        <Confirm
          title={`Pause the queue ${asked}?`} action='Pause the queue'
          onConfirm={() => { onSwitch(asked, true) }} onClose={() => { setAsked(undefined) }}
        >
          <p>
            Calls that run go on. New ones are taken and wait until somebody resumes it; agents that wait for them
            get <code>TIMEOUT</code>.
          </p>
        </Confirm>
      )}
    </div>
  )
}
