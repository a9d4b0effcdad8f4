import { writeJson } from '@toolyard/contract/terms'
import type { CommandRun } from '@toolyard/manifests'
import { auditEntry } from '../audit/entry.ts'
import { ownerOfCall, type Outcome } from '../run/outcome.ts'
import type { ToolCall } from '../run/tool-call.ts'
import { runProcess, lookupError } from '@toolyard/sandbox'
import { binaryOutput } from '../result/binary-output.ts'
import { largeProcessOutput } from '../result/large-output.ts'
import { commandOutput, endsInJson } from '../result/output.ts'
import { processOutcome } from '../result/process-outcome.ts'
import { commandPlan } from './command-plan.ts'

/** Said in the log of a job whose output is a text, though its tool meant a value. */
const mixedText = 'stdout isn\'t JSON as a whole, so the output is a text; its last line is JSON: lines for people belong on stderr'

/**
 * Runs a command tool: its argv as declared, in the workspace, the arguments as JSON on stdin, under the
 * timeout of the context. Writes one audit line, whatever happens.
 */
export async function runCommand (run: CommandRun, call: ToolCall): Promise<Outcome> {
  const { tool: { name }, args, context, worker } = call
  const { plan, passedKeys } = commandPlan(run, worker, call)
  const answers = context.answers === undefined ? [] : [{ variable: 'TOOLYARD_ANSWER', text: context.answers.map(line => `${line}\n`).join('') }]
  const end = await runProcess({ ...plan, handed: [...answers, ...context.handed ?? []] }, {
    stdin: writeJson(args),
    timeoutMs: context.timeoutMs,
    signal: context.signal,
    maxOutputBytes: call.maxOutputBytes,
    onLine: context.log,
    onProgress: context.progress
  }, call)
  call.audit.record(auditEntry({ tool: name, job: context.jobId, envKeys: passedKeys }, plan, end))
  if (end.ending.kind === 'exit' && end.ending.code === 127 && end.stdout.totalBytes === 0) {
    const error = lookupError(run.program, end.stderr.kept.toString('utf8', 0, 4_096))
    if (error !== undefined) return { ok: false, error }
  }
  const binary = await binaryOutput(end, context)
  if (binary !== undefined) return binary
  const large = await largeProcessOutput(end, 'either', { threads: worker.threads, signal: context.signal, owner: ownerOfCall(context) })
  if (large !== undefined) return large
  const outcome = processOutcome(end, commandOutput, context.jobId)
  if (outcome.ok && typeof outcome.output === 'string' && endsInJson(outcome.output)) context.log(`[${mixedText}]`)
  return outcome
}
