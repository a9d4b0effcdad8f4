import type { PythonRun, Tool } from '@toolyard/manifests'
import { auditEntry } from '../../audit/entry.ts'
import { startDeadline, type ProcessEnding, type ProcessEnd, shortageError, unbuiltError, type HostBox } from '@toolyard/sandbox'
import { failure, ownerOfCall, type Outcome, type RunContext } from '../../run/outcome.ts'
import type { ToolCall, WorkerHost } from '../../run/tool-call.ts'
import { interruptionError } from '../../run/interruption.ts'
import { outputFault } from '../../result/declared-output.ts'
import { readLargeOutput, type OutputReading } from '../../result/large-output.ts'
import { printedEnds } from '../../result/stream-end.ts'
import type { Hosts } from '../host/hosts.ts'
import { openCall } from './open-call.ts'
import type { OutputCheck } from './outputs.ts'
import { runCall, type CallEnd } from './run-call.ts'

export interface PythonCall extends Pick<ToolCall, 'args' | 'context' | 'audit' | 'maxOutputBytes' | 'filesDir'>, Partial<Pick<ToolCall, 'limit' | 'group' | 'share' | 'own' | 'network'>> {
  tool: Pick<Tool, 'name' | 'description'>
  worker: Pick<WorkerHost, 'workspaceDir' | 'threads' | 'onSurvivors'>
}

interface PythonHost {
  hosts: Hosts
  checkOutput: OutputCheck
  /** Shuts in the tool's host; without it the tool runs in the open. */
  box: HostBox | undefined
}

/** How a run ended, for the audit and for the caller. */
interface RunEnd {
  ending: ProcessEnding
  outcome: Outcome
  call?: CallEnd
}

/**
 * Runs a Python tool: `Class(name, description, config).execute(**arguments)`, in a fork of a process that has its
 * module imported, in the workspace, under the timeout of the context (an import that it has to wait for included).
 * The returned value is the output; what the tool prints is its log. Writes one audit line, whatever happens.
 */
export async function runPython (run: PythonRun, call: PythonCall, { hosts, checkOutput, box }: PythonHost): Promise<Outcome> {
  const begun = performance.now()
  const { tool, args, context, context: { session, trace }, network, worker: { threads, onSurvivors, workspaceDir } } = call
  const cwd = box === undefined ? call.filesDir : workspaceDir
  const variables = network === undefined && context.variables === undefined ? undefined : { ...network?.variables, ...context.variables }
  let program = 'python3'
  const deadline = startDeadline(context.timeoutMs, context.signal)
  try {
    const opened = await openCall(hosts, run, {
      box,
      limit: call.limit,
      session,
      onLine: context.log,
      interrupted: deadline.interrupted,
      onPython: path => { program = path }
    })
    let end: RunEnd
    if (opened.kind === 'opened') {
      const request = {
        class: run.className ?? null,
        name: tool.name,
        description: tool.description,
        config: run.config,
        arguments: args,
        cwd,
        max_bytes: call.maxOutputBytes,
        ...(session === undefined ? {} : { files: true as const }),
        ...(context.answers === undefined ? {} : { answers: context.answers }),
        ...(context.handed === undefined ? {} : { handed: textsOf(context.handed) }),
        ...(trace === undefined && variables === undefined ? {} : { env: { ...trace?.variables, ...variables } })
      }
      const started = performance.now()
      trace?.stage?.('sandbox', begun, started)
      const ended = await runCall(opened.process, request, {
        deadline, onLine: context.log, onProgress: context.progress, onSurvivors,
        group: call.group, share: call.share, onUsed: context.used, own: call.own
      })
      trace?.stage?.('run', started, performance.now())
      end = { ...await endOf(ended, { threads, signal: context.signal, owner: ownerOfCall(context) }), call: ended }
    } else {
      end = { ending: opened, outcome: { ok: false, error: opened.kind === 'unstarted' ? opened.error : interruptionError(opened) } }
    }
    const plan = { program, args: [run.className === undefined ? run.module : `${run.module}:${run.className}`], env: {}, cwd }
    call.audit.record(auditEntry({ tool: tool.name, job: context.jobId, envKeys: [] }, plan, processEnd(end, begun)))
    return await checked(end.outcome, run, context, checkOutput)
  } finally {
    deadline.clear()
  }
}

function textsOf (handed: NonNullable<RunContext['handed']>): Record<string, string> {
  return Object.fromEntries(handed.map(({ variable, text }) => [variable, text]))
}

async function endOf ({ ending, reply, printed }: CallEnd, reading: OutputReading): Promise<Pick<RunEnd, 'ending' | 'outcome'>> {
  const reported = async (): Promise<Outcome | undefined> => await reply.outcome(task => readLargeOutput(task, reading))
  switch (ending.kind) {
    case 'timeout':
    case 'abort':
      return { ending, outcome: { ok: false, error: interruptionError(ending, printedEnds({ stderr: printed })) } }
    case 'lost':
      return { ending: { kind: 'signal', signal: 'SIGKILL' }, outcome: await reported() ?? failure('WORKER_LOST', 'The Python host of this worker was lost while the tool ran') }
    case 'unboxed': {
      const error = unbuiltError(ending.cause)
      return { ending: { kind: 'unstarted', error }, outcome: { ok: false, error } }
    }
    case 'unbound': {
      const error = shortageError(ending.cause, 'bound a process')
      return { ending: { kind: 'unstarted', error }, outcome: { ok: false, error } }
    }
    case 'exit':
      return { ending, outcome: await reported() ?? failure('TOOL_FAILED', `exit status ${ending.code}`) }
    case 'signal':
      return { ending, outcome: await reported() ?? failure('TOOL_FAILED', `signal: ${ending.signal}`) }
  }
}

/** For the audit, the returned value counts as stdout, and everything printed as stderr. */
function processEnd ({ ending, call }: RunEnd, begun: number): ProcessEnd {
  const { totalBytes, keptBytes } = call?.reply.size() ?? { totalBytes: 0, keptBytes: 0 }
  return {
    ending,
    stdout: { kept: Buffer.alloc(keptBytes), totalBytes },
    stderr: call?.printed ?? { kept: Buffer.alloc(0), totalBytes: 0 },
    ms: performance.now() - begun
  }
}

/** A mismatch with the declared outputs is a line in the log, or an error with `strictOutputs`. */
async function checked (outcome: Outcome, run: PythonRun, context: RunContext, check: OutputCheck): Promise<Outcome> {
  if (!outcome.ok || run.outputs === undefined) return outcome
  const fault = await outputFault(outcome, async output => await check(run, output))
  if (fault === undefined) return outcome
  if (run.strictOutputs) return failure('OUTPUT_INVALID', fault)
  context.log(`warning: ${fault}`)
  return outcome
}
