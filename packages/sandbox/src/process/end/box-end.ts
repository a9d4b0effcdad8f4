import { constants } from 'node:os'
import type { BoxStatus } from '../plan/box.ts'
import type { ProcessPlan } from '../plan/plan.ts'
import type { ProcessEnding } from './ending.ts'
import { sandboxError, startError, unbuiltError } from '../plan/start-error.ts'

const signalBase = 128
/** Said by prlimit(1) and bubblewrap when the program itself could not be executed; nothing else has printed then. */
const execFailures = [/^bwrap: execvp /, /^prlimit: failed to execute /]
const unbuilt = 'bubblewrap failed; the lines of this job have its words'
/** Statuses of a command that runs another, when that one is missing or can't be executed. */
const execStatuses = new Set([126, 127])
/** The first name of a number is the usual one: SIGABRT is before SIGIOT, SIGIO before SIGPOLL. */
// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- Node's own names.
const signals = new Map(Object.entries(constants.signals).reverse().map(([name, number]) => [number, name as NodeJS.Signals]))

/**
 * How the process in a box ended, found from how the box did: by itself, by a signal, or never begun. The box
 * hands on a signal as 128 and its number; a process that exits with such a status by itself counts as ended by one.
 */
export async function boxEnding (ending: ProcessEnding, plan: ProcessPlan, status: BoxStatus, stderr: Buffer): Promise<ProcessEnding> {
  if (ending.kind !== 'exit') return ending
  const { exitCode } = status.read()
  const text = stderr.toString('latin1', 0, 200)
  if ((exitCode === undefined || execStatuses.has(exitCode)) && execFailures.some(failure => failure.test(text))) {
    return { kind: 'unstarted', error: await startError(plan, Object.assign(new Error('exec'), { code: 'ENOENT' })) }
  }
  if (exitCode === undefined) return { kind: 'unstarted', error: unbuiltError(text, unbuilt) }
  // The box in the box has no status of its own. A tool can say the same, so that no shortage is read from its words: it may have run.
  if (plan.parts !== undefined && exitCode === 1 && text.startsWith('bwrap: ')) return { kind: 'unstarted', error: sandboxError(unbuilt) }
  const signal = signals.get(exitCode - signalBase)
  return signal === undefined ? { kind: 'exit', code: exitCode } : { kind: 'signal', signal }
}
