import type { JobView, QuestionView } from '@toolyard/contract'
import { inputRequired } from '@modelcontextprotocol/server'
import type { ClientForms } from './client-forms.ts'
import { formRequest, type PersonRequest } from './forms.ts'

/** What a job waits for a person for. `mark` tells it from what the same job waited for before. */
export type Pause = { mark: string, kind: 'asks', question: QuestionView } | { mark: string, kind: 'held', reason: string | undefined }

export function pauseOf ({ status, question, approval }: Pick<JobView, 'status' | 'question' | 'approval'>): Pause | undefined {
  if (question !== undefined) return { mark: String(question.number), kind: 'asks', question }
  if (status !== 'held' || approval === undefined) return undefined
  return { mark: `h${Date.parse(approval.held_at)}`, kind: 'held', reason: approval.changed ?? approval.reason ?? undefined }
}

/** What a client can be asked with, and for which job. */
export interface AskedJob {
  tool: string
  forms: ClientForms
  /** Where the page is on which the job is approved; undefined where nothing tells the address of the console. */
  approvalUrl: string | undefined
}

/** What a client is asked while its call waits; undefined where it can't be asked. `fault` says what was wrong with the last answer. */
export function requestOf (pause: Pause, { tool, forms, approvalUrl }: AskedJob, fault?: string): PersonRequest | undefined {
  if (pause.kind === 'asks') return forms.form ? formRequest(pause.question, fault ?? pause.question.refused?.reason) : undefined
  if (!forms.url || approvalUrl === undefined) return undefined
  const why = pause.reason === undefined ? '' : ` (${pause.reason})`
  const message = `The call of '${tool}' runs once somebody has approved it${why}. The page shows what would run. To open it approves nothing.`
  return inputRequired.elicitUrl({ message, url: approvalUrl })
}

/** The name of what is asked. */
export function nameOf (pause: Pause): string {
  return pause.kind === 'asks' ? pause.question.name : 'approval'
}

/** The same for a task: no name is used again once an answer has come under it, also where that didn't fit. */
export function taskNameOf (pause: Pause): string {
  const { number, refused } = pause.kind === 'asks' ? pause.question : {}
  if (refused !== undefined) return `${nameOf(pause)} ${pause.mark}.${refused.count}`
  return number === 1 ? nameOf(pause) : `${nameOf(pause)} ${pause.mark}`
}
