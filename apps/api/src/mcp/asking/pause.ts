import { askedAtOnce, type AskedQuestion, type JobView } from '@toolyard/contract'
import type { JobStage } from '@toolyard/queue'
import { inputRequired } from '@modelcontextprotocol/server'
import type { ClientForms } from './client-forms.ts'
import { questionRequest, type ClientRequest } from './forms.ts'

/** A job waits for somebody. `marks` tell this wait from earlier ones of the same job. */
export type Pause = { marks: string[], kind: 'asks', questions: AskedQuestion[] } | { marks: string[], kind: 'held', reason: string | undefined }

export function pauseOf ({ status, question, approval }: Pick<JobView, 'status' | 'question' | 'approval'>): Pause | undefined {
  if (question !== undefined) {
    const questions = askedAtOnce(question)
    return { marks: questions.map(({ number }) => String(number)), kind: 'asks', questions }
  }
  if (status !== 'held' || approval === undefined) return undefined
  return { marks: [`h${Date.parse(approval.held_at)}`], kind: 'held', reason: approval.changed ?? approval.reason ?? undefined }
}

/** The marks of what a job waits for now; none where it waits for nobody. */
export function marksOf (stage: JobStage): string[] {
  return stage.kind === 'asks' ? stage.numbers.map(String) : stage.kind === 'held' ? [`h${stage.since}`] : []
}

/** The client's forms, and the job. */
export interface AskedJob {
  tool: string
  forms: ClientForms
  /** Where the page is on which the job is approved; undefined where nothing tells the address of the console. */
  approvalUrl: string | undefined
}

/** One thing that a client is asked while its call waits. */
export interface OpenRequest {
  mark: string
  name: string
  request: ClientRequest
  /** Absent: it is led to an approval. */
  question?: AskedQuestion
}

/** The questions of a pause that a client can be asked. `faults` are those of the last answers, by the numbers of the questions. */
export function requestsOf (pause: Pause, { tool, forms, approvalUrl }: AskedJob, faults?: ReadonlyMap<number, string>): OpenRequest[] {
  if (pause.kind === 'asks') {
    return pause.questions.flatMap((question): OpenRequest[] => {
      const { number, name, refused } = question
      const request = questionRequest(question, forms, faults?.get(number) ?? refused?.reason)
      return request === undefined ? [] : [{ mark: String(number), name, request, question }]
    })
  }
  if (!forms.url || approvalUrl === undefined) return []
  const why = pause.reason === undefined ? '' : ` (${pause.reason})`
  const message = `The call of '${tool}' runs once somebody has approved it${why}. The page shows what would run. To open it approves nothing.`
  return pause.marks.map(mark => ({ mark, name: 'approval', request: inputRequired.elicitUrl({ message, url: approvalUrl }) }))
}

/** The name of a request of a task: none is used again once an answer has come under it, also where that didn't fit. */
export function taskNameOf ({ mark, name, question }: Omit<OpenRequest, 'request'>): string {
  if (question?.refused !== undefined) return `${name} ${mark}.${question.refused.count}`
  return question?.number === 1 ? name : `${name} ${mark}`
}
