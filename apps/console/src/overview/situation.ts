import type { GoneWorker, QueueView, SessionView, Statistics, ToolOverview, WorkerView } from '@toolyard/contract'

export interface Attention {
  severity: 'bad' | 'warn'
  text: string
  advice: string
  href: string
  /** The paused queue that it is about, which can be resumed. */
  resumes?: string
}

/** Parts that a key may not see are absent. */
export interface Situation {
  queues?: readonly QueueView[] | undefined
  workers?: readonly WorkerView[] | undefined
  /** Workers that were lost lately, the latest first. */
  lostWorkers?: ReadonlyArray<Pick<GoneWorker, 'id' | 'host'>> | undefined
  /** Of the last minutes. */
  statistics?: Pick<Statistics, 'tools'> | undefined
  registry?: Pick<ToolOverview, 'tools' | 'findings'> | undefined
  /** Jobs that failed lately because their worker was lost. */
  lost?: number | undefined
  /** Jobs whose tool asks something. */
  asking?: number | undefined
  sessions?: readonly SessionView[] | undefined
}
