import type { PersonWait } from '../../run/steps.ts'

export interface WorkflowClock {
  /** When it is over, if nobody is waited for any more. */
  until: number
  latest: number
  isOver: boolean
}

/** The time of a workflow stands still while a step waits for a person. All times are of one clock. */
export function workflowClock (planned: number, waits: readonly PersonWait[], now: number): WorkflowClock {
  const until = planned + coveredMs(waits.map(({ from, to = now }) => [from, to]))
  const open = waits.filter(({ to }) => to === undefined)
  if (open.length === 0) return { until, latest: until, isOver: now >= until }
  const decided = Math.max(...open.map(({ ends }) => ends))
  return { until, latest: Math.min(Number.MAX_SAFE_INTEGER, decided + Math.max(0, until - now)), isOver: false }
}

/** How much time some spans cover together. */
function coveredMs (spans: ReadonlyArray<readonly [from: number, to: number]>): number {
  let covered = 0
  let end = -Infinity
  for (const [from, to] of [...spans].sort(([one], [other]) => one - other)) {
    covered += Math.max(0, to - Math.max(from, end))
    end = Math.max(end, to)
  }
  return covered
}
