import type { HoldTerms } from '@toolyard/manifests'
import type { CallTrace } from '../call-trace.ts'
import type { CallState } from '../job-admission.ts'
import type { Call, CallAnswer } from './call-answer.ts'

/** One call of a batch: what was asked, what has become of it, and its answer. */
export class PlannedCall {
  readonly call: Call
  /** A person must approve its job first. */
  readonly hold: HoldTerms | undefined
  state: CallState
  /** Its job waits for that person now. */
  isHeld = false
  trace: CallTrace | undefined
  /** Its answer, which is made once, though more than one place asks for it. */
  answering: Promise<CallAnswer> | undefined

  constructor (call: Call, state: CallState, hold?: HoldTerms) {
    this.call = call
    this.state = state
    this.hold = hold
  }

  /** The id of the job that it has, or is about to have. */
  get jobId (): string | undefined {
    return this.state.kind === 'planned' || this.state.kind === 'made' ? this.state.job.id : undefined
  }
}
