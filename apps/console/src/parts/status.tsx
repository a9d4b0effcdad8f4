import type { JobState, JobSummary } from '@toolyard/client'
import type { VNode } from 'preact'

/** A person sees the state by these without its colour. */
export const signs: Readonly<Record<JobState | 'waiting', string>> = { waiting: '·', queued: '○', held: '‖', running: '◐', input_required: '?', succeeded: '✓', failed: '✕', cancelled: '–' }

export function Status ({ status }: { status: JobState | 'waiting' }): VNode {
  return <span class={`status ${status}`}><span aria-hidden='true'>{signs[status]}</span><span class='word'>{status.replace('_', ' ')}</span></span>
}

/** How far a job that runs is, as its tool tells: a bar, the numbers and the text; nothing for a tool that tells nothing. */
export function ProgressBar ({ job: { status, progress } }: { job: Pick<JobSummary, 'status' | 'progress'> }): VNode | null {
  if (progress === undefined || !['queued', 'running'].includes(status)) return null
  const { done, total, text } = progress
  const numbers = total === null ? String(done) : `${done} of ${total}`
  return (
    <div class='progress'>
      {total === null ? <progress aria-label='How far it is' /> : <progress aria-label='How far it is' max={Math.max(1, total)} value={done} />}
      <span class='soft small'>{numbers}{text === null || text === '' ? '' : ` · ${text}`}</span>
    </div>
  )
}
