import type { PythonRun } from '@toolyard/manifests'
import { auditEntry } from '../../audit/entry.ts'
import { startError } from '@toolyard/sandbox'
import type { Failure } from '../../run/outcome.ts'
import type { ToolCall } from '../../run/tool-call.ts'

/** The failure of a call whose module isn't the pinned one, else undefined. A changed file is imported again, so what runs was checked. */
export async function pinFailure (
  { pin }: PythonRun, { tool, context: { jobId }, pins, audit, workspaceDir }: ToolCall
): Promise<Failure | undefined> {
  if (pin === undefined || await pins.check(pin) !== undefined) return undefined
  const plan = { program: pin.file, args: [], env: {}, cwd: workspaceDir }
  const error = await startError(plan, Object.assign(new Error('other than pinned'), { code: 'EPINNED' }))
  const nothing = { kept: Buffer.alloc(0), totalBytes: 0 }
  audit.record(auditEntry({ tool: tool.name, job: jobId, envKeys: [] }, plan, { ending: { kind: 'unstarted', error }, stdout: nothing, stderr: nothing, ms: 0 }))
  return { ok: false, error }
}
