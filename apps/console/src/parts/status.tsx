import type { JobState } from '@toolyard/client'
import type { VNode } from 'preact'

/** A person sees the state by these without its colour. */
export const signs: Readonly<Record<JobState | 'waiting', string>> = { waiting: '·', queued: '○', held: '‖', running: '◐', input_required: '?', succeeded: '✓', failed: '✕', cancelled: '–' }

export function Status ({ status }: { status: JobState | 'waiting' }): VNode {
  return <span class={`status ${status}`}><span aria-hidden='true'>{signs[status]}</span><span class='word'>{status.replace('_', ' ')}</span></span>
}
