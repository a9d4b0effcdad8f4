import { firstChars } from '@toolyard/contract/terms'
import { askedAtOnce, HttpError, isRecord, limits, writeJson, type AnswerRequest, type JobView } from '@toolyard/contract'
import { createAnswerSchemas, type AnswerSchemas } from '@toolyard/manifests'
import type { AnswerResult, Approvals } from '@toolyard/queue'

/** Answers what the tools of jobs ask; to be made once, since schemas are checked in threads. */
export class Answerer {
  readonly #approvals: Approvals
  readonly #schemas: AnswerSchemas = createAnswerSchemas()

  constructor (approvals: Approvals) {
    this.#approvals = approvals
  }

  /**
   * Checks an answer and lets the job go on; one that doesn't fit changes nothing.
   *
   * @param job as it was just read
   * @throws HttpError `VALIDATION_ERROR` with what doesn't fit; `CONFLICT` when nothing is asked; RedisUnavailableError
   */
  async answer (
    { id, queue, tenant, question, status }: Pick<JobView, 'id' | 'queue' | 'tenant' | 'question' | 'status'>, { answer, number }: AnswerRequest
  ): Promise<void> {
    if (question === undefined && number === undefined) throw new HttpError('CONFLICT', `The job asks nothing: it is ${status}`)
    // When an answer is sent again, its question may be gone, so that nothing checks the answer.
    const asked = question && askedAtOnce(question).find(each => each.number === (number ?? question.number))
    const given = asked === undefined ? answer : await this.#checked(asked.schema, answer, tenant ?? '')
    // An answer counts for the question that it was checked for, and for no other one.
    const about = { number: number ?? asked?.number, isChecked: asked !== undefined }
    const result = await this.#approvals.answer({ id, queue, tenant }, { answer: writeJson(given), ...about })
    if (result === 'missing') throw new HttpError('NOT_FOUND', 'Job not found')
    const refusal = refusals[result]
    if (refusal !== undefined) throw new HttpError('CONFLICT', refusal)
  }

  /** Notes that an answer didn't fit, and why: its client is asked again under another name. */
  async refuse ({ id, queue, tenant }: Pick<JobView, 'id' | 'queue' | 'tenant'>, number: number, reason: string): Promise<void> {
    await this.#approvals.refuse({ id, queue, tenant }, number, firstChars(reason, limits.decisionChars))
  }

  async #checked (schema: unknown, answer: unknown, owner: string): Promise<Record<string, unknown>> {
    if (!isRecord(answer)) throw new HttpError('VALIDATION_ERROR', "'answer' must be an object that fits the schema of the question")
    if (writeJson(answer).length > limits.answerChars) throw new HttpError('VALIDATION_ERROR', `'answer' must have at most ${limits.answerChars} characters as JSON`)
    const checked = await this.#schemas.check(isRecord(schema) ? schema : {}, answer, owner)
    if ('answer' in checked) return checked.answer
    const [first] = checked.issues
    throw new HttpError('VALIDATION_ERROR', `'answer' does not fit the question: ${first?.path ?? '/'} ${first?.message ?? ''}`, { issues: checked.issues })
  }
}

/** For answers that change nothing. */
const refusals: Readonly<Partial<Record<AnswerResult, string>>> = {
  answered: 'The question was answered before',
  ended: 'The job has ended',
  expired: 'The question can no longer be answered: its time is over',
  other: 'The job asks another question by now: look at it again',
  unasked: 'The job has asked nothing'
}
