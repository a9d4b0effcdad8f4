import type { PythonRun, Tool } from '@toolyard/manifests'
import type { Audit } from '../../audit/audit.ts'
import { auditEntry } from '../../audit/entry.ts'
import { startDeadline, type CallGroup, type ProcessEnding, type ProcessEnd, sandboxError, shortageError, type HostBox } from '@toolyard/sandbox'
import { failure, type Outcome, type RunContext, type SessionPlace } from '../../run/outcome.ts'
import { interruptionError } from '../../run/interruption.ts'
import { outputFault } from '../../result/declared-output.ts'
import { readLargeOutput, type OutputReading } from '../../result/large-output.ts'
import { printedEnds } from '../../result/stream-end.ts'
import type { Threads } from '@toolyard/runtime/threads'
import type { Hosts } from '../host/hosts.ts'
import { openCall } from './open-call.ts'
import type { OutputCheck } from './outputs.ts'
import { runCall, type CallEnd } from './run-call.ts'

export interface PythonHost {
  hosts: Hosts
  workspaceDir: string
  maxOutputBytes: number
  audit: Audit
  checkOutput: OutputCheck
  /** What large outputs are read in. */
  threads: Threads
  onSurvivors: (pids: number[]) => void
  /** Shuts in the tool's host; without it the tool runs in the open. */
  box?: HostBox | undefined
  /** Of this call alone: what its process gets of its network and its secrets. */
  variables?: Readonly<Record<string, string>> | undefined
  /** In the open: a command line that runs what follows it under the tool's own limits. */
  limit?: readonly string[] | undefined
  session?: SessionPlace | undefined
  /** The control group of the call, if it needs one. */
  group?: CallGroup | undefined
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
export async function runPython (tool: Pick<Tool, 'name' | 'description'>, run: PythonRun, args: Record<string, unknown>, context: RunContext, host: PythonHost): Promise<Outcome> {
  const begun = performance.now()
  const { trace } = context
  let program = 'python3'
  const deadline = startDeadline(context.timeoutMs, context.signal)
  try {
    const opened = await openCall(host.hosts, run, {
      box: host.box,
      limit: host.limit,
      session: host.session,
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
        cwd: host.workspaceDir,
        max_bytes: host.maxOutputBytes,
        ...(host.session === undefined ? {} : { files: true as const }),
        ...(context.answers === undefined ? {} : { answers: context.answers }),
        ...(context.handed === undefined ? {} : { handed: textsOf(context.handed) }),
        ...(trace === undefined && host.variables === undefined ? {} : { env: { ...trace?.variables, ...host.variables } })
      }
      const started = performance.now()
      trace?.stage?.('sandbox', begun, started)
      const call = await runCall(opened.process, request, {
        deadline, onLine: context.log, onProgress: context.progress, onSurvivors: host.onSurvivors, group: host.group, onUsed: context.used
      })
      trace?.stage?.('run', started, performance.now())
      end = { ...await endOf(call, { threads: host.threads, signal: context.signal }), call }
    } else {
      end = { ending: opened, outcome: { ok: false, error: opened.kind === 'unstarted' ? opened.error : interruptionError(opened) } }
    }
    const plan = { program, args: [run.className === undefined ? run.module : `${run.module}:${run.className}`], env: {}, cwd: host.workspaceDir }
    host.audit.record(auditEntry({ tool: tool.name, job: context.jobId, envKeys: [] }, plan, processEnd(end, begun)))
    return await checked(end.outcome, run, context, host.checkOutput)
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
      return { ending: { kind: 'signal', signal: 'SIGKILL' }, outcome: await reported() ?? failure('INTERNAL', 'the Python host ended while the tool ran') }
    case 'unboxed': {
      const error = sandboxError(ending.cause)
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
