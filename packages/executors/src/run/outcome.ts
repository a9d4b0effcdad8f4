import type { CallError, CallErrorCode, ChangedFiles, Progress } from '@toolyard/contract'
import type { QuestionKind } from '@toolyard/contract/terms'
import type { HandedText, RunTrace, Shortage } from '@toolyard/sandbox'
import type { HeaderSecret } from './header-secret.ts'
import type { StepWait, WorkflowSteps } from './steps.ts'

/** How one run of a tool ended. Executors return it for everything a tool can do; they throw only for bugs. */
export type Outcome = Success | Failure

/** The tool ran and gave an output. */
export interface Success extends ChangedFiles {
  ok: true
  /** A JSON value; undefined where `json` is there. */
  output: unknown
  /** The JSON of a large output, which a thread has written: bytes are handed over, and stored, without being copied. */
  json?: Buffer
  /** Objects, lists and fields in `json`. */
  parts?: number
  /** Present when the tool wrote more than the cap: the bytes it wrote and the bytes that were kept. */
  cut?: { bytes: number, storedBytes: number }
  /** The output refers to a file that was stored from the tool's own output. It may be returned even if the tool may not read files. */
  isStored?: true
  /** All that gives away the secrets of the call: no file is named whose name holds any. */
  secretForms?: readonly string[]
}

/** The tool did not succeed, or did not run. */
export interface Failure {
  ok: false
  error: CallError
  /** The run has ended, but its job goes on: it is run again when a step has settled. A caller that can't run it again reports `error`. */
  wait?: StepWait
  /** The run has ended with a question: it is run again with the answer. A caller that can't ask reports `error`. */
  ask?: AskedBack
}

/** One question of a server, as it came. */
export interface AskedQuestion {
  kind: QuestionKind
  text?: unknown
  schema?: unknown
  params?: unknown
}

/** Questions of an MCP server during a call, asked at once. */
export interface AskedBack {
  questions: AskedQuestion[]
  /** The next run gets it back as `memo`. */
  memo: string
}

export function failure (code: CallErrorCode, message: string): Failure {
  return { ok: false, error: { code, message } }
}

/** The call was ended for it. */
export function endedForShortage (shortage: Shortage): Failure {
  const limit = shortage.of === 'memory' ? 'memoryBytes' : 'processes'
  const hint = `"${limit}" in the "limits" of a manifest entry bounds what one call may have.`
  return { ok: false, error: { code: 'TOOL_FAILED', message: shortageText('this call', shortage), details: { hint } } }
}

export function shortageText (what: string, { of, held }: Shortage): string {
  const amount = of === 'memory' ? `held ${Math.round(held / 2 ** 20)} MiB` : `had ${held}, with threads`
  return `All tools of this worker together had nearly no ${of} left, and ${what} was ended: it ${amount}`
}

/** Whose call it is: the tenant's, or of an operator's key. */
export function ownerOfCall ({ tenant, keyName = '' }: { tenant?: string | undefined, keyName?: string | undefined }): string {
  return tenant === undefined ? keyName : `@${tenant}`
}

export interface SessionPlace {
  id: string
  /** Its directory, by an absolute path. */
  dir: string
  /**
   * Counts bytes that are about to be stored there; absent where there is no quota.
   *
   * @throws WorkspaceFailure QUOTA_EXCEEDED
   */
  takeRoom?: (bytes: number) => Promise<void>
}

export interface RunContext {
  jobId: string
  /** Name of the API key that the call came with: for the audit. */
  keyName?: string
  /** The session whose directory is the workspace of the call; absent for the shared one. */
  session?: SessionPlace
  /** The tenant of that key; absent for an operator's. */
  tenant?: string | undefined
  /** Execution timeout, in milliseconds. */
  timeoutMs: number
  /** Aborted when the job is cancelled or its worker stops: the run ends, its processes with it. */
  signal: AbortSignal
  /** Makes the jobs of a workflow's steps. */
  steps?: WorkflowSteps
  /** The JSON of all answers to what the tool has asked before, the oldest first. */
  answers?: readonly string[] | undefined
  /** Kept by the run before, with its question. */
  memo?: string | undefined
  /** Present for a run that belongs to a trace. */
  trace?: RunTrace
  /** Values of stored secrets that the tool uses, by name. */
  secrets?: ReadonlyMap<string, string>
  /** Secrets that its processes have placeholders for. */
  headerSecrets?: readonly HeaderSecret[]
  /** Variables of its processes alone: secrets that they get, and placeholders. No request has them. */
  variables?: Readonly<Record<string, string>>
  /** Secrets that its processes read from files. */
  handed?: readonly HandedText[]
  /** All that gives away the secrets that its tool uses: no file that is stored for the call may hold any. */
  secretForms?: readonly string[] | undefined
  /** Hides its secrets in what names a host that its processes ask for. */
  hideInHost?: ((text: string) => string) | undefined
  /** Takes one line of the tool's stderr (or of what it printed) while the tool runs. */
  log: (line: string) => void
  /** Gets how far the tool is, as often as the tool reports it. */
  progress?: ((progress: Progress) => void) | undefined
  /** Gets the processor time of each process of the call that has ended, in milliseconds; an estimate. */
  used?: ((ms: number) => void) | undefined
}
