import type { CallAnswer } from './call-answer.ts'

/** Gets a batch's answers one by one. */
export interface AnswerListener {
  /** The jobs are made: from now on each call gets its answer. */
  started: () => void
  /** Called once for each call, in the order in which the answers are known. */
  answered: (index: number, answer: CallAnswer) => void
}

/** The answers of one sync batch, by the index of their calls. Each is made once, though more than one place asks for it. */
export class BatchAnswers {
  readonly #listener: AnswerListener | undefined
  readonly #answers = new Map<number, Promise<CallAnswer>>()
  readonly #started: Promise<void>
  #start: () => void = () => {}

  constructor (listener: AnswerListener | undefined) {
    this.#listener = listener
    this.#started = new Promise(resolve => { this.#start = resolve })
  }

  /** The jobs are made; calls that ended while they were being made are answered now. */
  start (): void {
    this.#listener?.started()
    this.#start()
  }

  /** The call's answer, made by `make` unless it is already there or under way. */
  async answer (index: number, make: () => Promise<CallAnswer>): Promise<CallAnswer> {
    const known = this.#answers.get(index)
    if (known !== undefined) return await known
    const making = this.#started.then(make).then(answer => {
      this.#listener?.answered(index, answer)
      return answer
    })
    this.#answers.set(index, making)
    return await making
  }
}
