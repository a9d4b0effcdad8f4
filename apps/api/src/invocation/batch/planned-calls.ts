import type { Settlement } from '@toolyard/contract'
import type { Admitted } from '../job-admission.ts'
import type { Call, CallPlan } from './call-plan.ts'
import { askedAnew, type ServiceCall } from './job-tool-call.ts'

/** A call, and what became of it. */
export type Pair = [Call, Admitted | { ask: ServiceCall }]

/** What is to be admitted of a plan. */
export function withoutCall (plan: CallPlan): { job: Extract<CallPlan, { job: unknown }>['job'] } | { error: Extract<CallPlan, { error: unknown }>['error'] } {
  if ('ask' in plan) return { error: askedAnew }
  return 'job' in plan ? { job: plan.job } : { error: plan.error }
}

/** Each call with what became of it; the two come in the same order. What is asked of another job is asked each time. */
export function pairs (plans: readonly CallPlan[], admitted: readonly Admitted[]): Pair[] {
  return plans.map((plan, index) => [
    plan.call, 'ask' in plan ? plan : admitted[index] ?? { error: { code: 'INTERNAL', message: 'The call was lost' } }
  ])
}

export function idsOf (entries: readonly Admitted[]): string[] {
  return entries.flatMap(entry => 'job' in entry ? [entry.job.id] : [])
}

export function settlementOf (entry: Pair[1], outcome: ReadonlyMap<string, Settlement>): Settlement | undefined {
  return 'job' in entry ? outcome.get(entry.job.id) : undefined
}
