export type { Failure, Outcome, RunContext, Success } from './outcome.ts'
