import { stat } from 'node:fs/promises'
import type { CallError } from '@toolyard/contract'
import { asError, crlfText, errorCode, firstLineBytes, isRecord, markedText, noFirstLineText, readFirstLine, type FirstLine } from '@toolyard/contract/terms'
import type { ProcessPlan } from './plan.ts'
import { headOf } from './program-format.ts'

const causes: Record<string, string> = {
  E2BIG: 'its arguments and environment are too long: hand long values over on stdin, or in files',
  EACCES: 'it is not executable: chmod +x mends that',
  ELOOP: 'too many symbolic links',
  ENAMETOOLONG: 'its path is too long',
  ENOEXEC: noFirstLineText,
  ENOENT: 'no such file',
  ENOTDIR: 'no such file',
  EPINNED: 'it is not the one that its manifest pins with sha256',
  EPERM: 'not permitted',
  ERR_INVALID_ARG_VALUE: 'its path, an argument or a variable holds a NUL byte',
  ETXTBSY: 'it is being written'
}

/** UTF-16 units of what env says; a name is at most 255 of them. */
const longestLookup = 1_000

/** The machine lacks something, and the program isn't wrong: worth another try elsewhere. */
const shortages = new Set(['EAGAIN', 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOMEM', 'ENOSPC', 'ERR_WORKER_INIT_FAILED'])
/** Other faults of the worker: its helper, or what leads to stdin, stdout and stderr. */
const workerFaults = new Set(['HELPER_LOST', 'CHANNELS'])

/** For calls whose process was started by a helper that died, or may have been. */
export const helperLost: CallError = { code: 'WORKER_LOST', message: 'The process that starts the tools of this worker was lost' }

/**
 * The call error for a process that couldn't be started: `TOOL_UNAVAILABLE` with the program and the cause, or
 * `INTERNAL` when the worker is out of processes, descriptors, memory or room for temporary files, or a control group
 * refuses. The kernel's text never gets through, it may name other paths.
 */
export async function startError (plan: ProcessPlan, error: unknown): Promise<CallError> {
  const code = errorCode(error) ?? ''
  if (code === 'HELPER_DIED') return helperLost
  if (isShortage(error) || workerFaults.has(code)) return shortageError(code)
  return { code: 'TOOL_UNAVAILABLE', message: `program ${JSON.stringify(plan.program)} cannot be started: ${await causeOf(plan, code)}` }
}

/** The call error where nothing was started. What the worker is out of, another one may have; a fault of its set-up stays. */
export function shortageError (code: string, what = 'start a process'): CallError {
  const isPassing = shortages.has(code) || code === 'HELPER_LOST'
  return { code: 'INTERNAL', message: `the worker cannot ${what}: ${code}`, ...(isPassing && { details: { shortage: code } }) }
}

/** The worker's shortage when nothing was started. */
export function shortageOf ({ code, details }: CallError): string | undefined {
  const shortage = code === 'INTERNAL' && isRecord(details) ? details['shortage'] : undefined
  return typeof shortage === 'string' ? shortage : undefined
}

/** Whether it may work with the next try. */
export function isShortage (error: unknown): boolean {
  const code = errorCode(error) ?? ''
  return shortages.has(code) || code.startsWith('cgroup ')
}

export async function boxError (plan: ProcessPlan, error: unknown): Promise<CallError> {
  return isShortage(error) ? await startError(plan, error) : sandboxError(asError(error).message)
}

/**
 * The same for a script that began with `env`, which didn't find what it was to start: its words and exit status 127
 * are all that there is. Undefined for another end.
 */
export function lookupError (program: string, stderr: string): CallError | undefined {
  if (stderr.length > longestLookup || !/^(?:\/\S+\/)?env: .*no such file/i.test(stderr)) return undefined
  const first = firstLineOf(program)
  if (first?.lookedUp === undefined || !stderr.includes(first.lookedUp)) return undefined
  const cause = first.crlf ? crlfText : `its interpreter ${JSON.stringify(first.lookedUp)} is not on the PATH`
  return { code: 'TOOL_UNAVAILABLE', message: `program ${JSON.stringify(program)} cannot be started: ${cause}` }
}

/** What the kernel says of shortages, as bubblewrap and Python hand it on at the end of a line. */
const shortageTexts: Record<string, string> = {
  'Cannot allocate memory': 'ENOMEM', 'Resource temporarily unavailable': 'EAGAIN', 'Too many open files in system': 'ENFILE'
}

/** The call error for a box that could not be built, from the words of who was to build it: the worker's shortage, or `reason`. */
export function unbuiltError (words: string, reason = words): CallError {
  const shortage = words.split('\n').map(line => shortageTexts[/(?:: |\] )([^:\]]+)$/.exec(line.trimEnd())?.[1] ?? '']).find(code => code !== undefined)
  return shortage === undefined ? sandboxError(reason) : shortageError(shortage)
}

/** The call error for a box that could not be built around a process, which therefore did not run. */
export function sandboxError (reason: string): CallError {
  return { code: 'SANDBOX_FAILED', message: `the sandbox could not be set up: ${reason}` }
}

async function causeOf (plan: ProcessPlan, code: string): Promise<string> {
  if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') {
    if (await kindOf(plan.cwd) !== 'directory') return 'its working directory is missing'
    const kind = await kindOf(plan.program)
    if (kind === 'directory') return 'it is a directory'
    if (kind === 'file' && code === 'ENOENT') return await interpreterFault(plan.program)
  }
  if (code === 'ENOEXEC' && firstLineOf(plan.program)?.marked === true) return markedText
  return causes[code] ?? (code === '' ? 'unknown cause' : code)
}

/** The program is there, so the kernel didn't find what its first line names, or the program itself a moment before. */
async function interpreterFault (program: string): Promise<string> {
  const first = firstLineOf(program)
  if (first?.crlf === true) return crlfText
  if (first?.interpreter === undefined) return 'its interpreter is missing'
  const named = JSON.stringify(first.interpreter)
  // Somebody replaces the directory of the program, or it lies where no box shows it.
  return await kindOf(first.interpreter) === 'none' ? `its interpreter ${named} is missing` : `it, or its interpreter ${named}, was not there when it was to start`
}

function firstLineOf (program: string): FirstLine | undefined {
  return readFirstLine(headOf(program, firstLineBytes) ?? Buffer.alloc(0))
}

async function kindOf (path: string): Promise<'file' | 'directory' | 'none'> {
  try {
    const found = await stat(path)
    return found.isDirectory() ? 'directory' : found.isFile() ? 'file' : 'none'
  } catch {
    return 'none'
  }
}
