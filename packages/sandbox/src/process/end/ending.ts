import type { CallError } from '@toolyard/contract'
import type { Interruption } from '../plan/deadline.ts'

export type ProcessEnding =
  | { kind: 'exit', code: number }
  | { kind: 'signal', signal: NodeJS.Signals }
  | { kind: 'unstarted', error: CallError }
  | Interruption
