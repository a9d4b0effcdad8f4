import type { Tool } from '@toolyard/manifests'
import { WorkspaceFailure, type WorkspaceSetting } from '@toolyard/workspace'
import { ownerOfCall, type RunContext } from '../../run/outcome.ts'
import type { WorkflowSteps } from '../../run/steps.ts'
import type { ToolCall } from '../../run/tool-call.ts'

/** Where and until when a built-in tool works. */
export interface BuiltinContext {
  tool: Tool
  jobId: string
  workspace: WorkspaceSetting
  /** The call's box is part of it. */
  processes: ToolCall
  /** Execution timeout of the whole call, in milliseconds. */
  timeoutMs: number
  /** Aborted at the timeout and at a cancel; a handler checks it between its steps. */
  signal: AbortSignal
  /** Absent where no jobs can be made. */
  steps?: WorkflowSteps
  log: (line: string) => void
  /** Gets how far the tool is. */
  progress?: RunContext['progress']
}

/** Whose call it is. */
export function ownerOfBuiltin ({ processes: { context } }: BuiltinContext): string {
  return ownerOfCall(context)
}

/** An output that is JSON already: a thread has written it, since it is large. */
export class JsonText {
  readonly json: Buffer

  constructor (json: Buffer) {
    this.json = json
  }
}

/**
 * A built-in tool: runs in the worker's own process, never blocks it, and returns a JSON value, or a `JsonText`.
 *
 * @throws WorkspaceFailure or BuiltinFailure for an error of the caller; BuiltinWait when it goes on after other jobs; anything else
 * is a bug.
 */
export type BuiltinHandler = (args: Readonly<Record<string, unknown>>, context: BuiltinContext) => Promise<unknown>

export class BuiltinFailure extends WorkspaceFailure {
  override readonly name = 'BuiltinFailure'
}
