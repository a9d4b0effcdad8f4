import { isRecord } from '@toolyard/contract/terms'
import type { CallError } from '@toolyard/contract'
import type { ExecuteParameter, ImportFault, PythonRun, Tool } from '@toolyard/manifests'
import { startDeadline, type HostBox } from '@toolyard/sandbox'
import { createHosts, type Hosts } from '../host/hosts.ts'
import { toolEnvironment } from '../../run/environment.ts'
import { openCall } from '../call/open-call.ts'
import { runCall, type CallEnd } from '../call/run-call.ts'

/** For one tool: its import, and the construction of its class. */
const timeoutMs = 90_000
/** Of a signature as JSON: enough for some hundred parameters. */
const signatureBytes = 32_768

interface ImportTry {
  hosts: Hosts
  workspaceDir: string
  /** The box that the tool's host must be in for a try; undefined: none. */
  boxOf: (tool: Tool) => HostBox | undefined
  hasNetwork: (tool: Tool) => boolean
  /** Whether the signature of `execute` is wanted too. */
  signatures?: boolean
}

/** The module is there, and its class can be constructed, unless there is a fault. */
export interface Tried {
  fault?: ImportFault
  /** The parameters of `execute`, where they were wanted and could be found out. */
  signature?: ExecuteParameter[]
  /**
   * Why the fault may be none of the tool: this machine is out of something at the moment, the try was given up, or it
   * had no network where the tool's calls have it.
   */
  doubt?: 'shortage' | 'slow' | 'network'
}

/** Hosts for tries: nobody counts what becomes of their processes. */
export function createTryHosts (env: NodeJS.ProcessEnv, workspaceDir: string): Hosts {
  const { variables } = toolEnvironment([], env)
  return createHosts({ env: variables, workspaceDir, onSurvivors: () => {}, onHostEnd: () => {} })
}

/** Tries tools of one module, which stays imported for their calls. One whose import was given up is dropped: it may never end. */
export async function tryModule (tools: readonly Tool[], options: ImportTry): Promise<Tried[]> {
  const results: Tried[] = []
  for (const tool of tools) {
    const { run } = tool
    results.push(run.kind === 'python' ? await tryTool({ tool, run }, options) : {})
  }
  return results
}

/** Imports the module of one tool as its first call would, and constructs its class; executes nothing. */
async function tryTool (
  { tool, run }: { tool: Tool, run: PythonRun }, { hosts, boxOf, hasNetwork, workspaceDir, signatures = false }: ImportTry
): Promise<Tried> {
  const deadline = startDeadline(timeoutMs, new AbortController().signal)
  const box = boxOf(tool)
  const unimported = `module '${run.module}' does not import: `
  const misses = (lacksNetwork: boolean | undefined): boolean => lacksNetwork === true && box !== undefined && hasNetwork(tool)
  let python: string | undefined
  const module = (reason: string): ImportFault => ({ tool, what: 'module', reason, ...python !== undefined && { python } })
  try {
    const { interrupted } = deadline
    const opened = await openCall(hosts, run, { box, once: true, onLine: () => {}, interrupted, onPython: path => { python = path } })
    if (opened.kind === 'unstarted') {
      return tried(module(opened.error.message.replace(unimported, '')), misses(opened.lacksNetwork) ? 'network' : doubtOf(opened.error))
    }
    if (opened.kind !== 'opened') return tried(module(tooLong), 'slow')
    const request = {
      class: run.className ?? null,
      name: tool.name,
      description: tool.description,
      config: run.config,
      arguments: null,
      cwd: workspaceDir,
      max_bytes: signatures ? signatureBytes : 0
    }
    const call = await runCall(opened.process, request, { deadline, onLine: () => {}, onSurvivors: () => {}, group: undefined })
    // A try returns a signature at most.
    const outcome = await call.reply.outcome(() => Promise.resolve({ ok: true, output: undefined }))
    if (outcome === undefined) return unanswered(tool, call)
    if (outcome.ok) return signatures ? readSignature(outcome.output) : {}
    const { error } = outcome
    const what = error.message.startsWith(unimported) ? 'module' : isRecord(error.details) && error.details['type'] !== undefined ? 'construction' : 'class'
    return tried({ ...module(error.message.replace(unimported, '')), what }, misses(call.reply.lacksNetwork()) ? 'network' : doubtOf(error))
  } finally {
    deadline.clear()
  }
}

const tooLong = `it takes longer than ${timeoutMs / 1_000} s`

function tried (fault: ImportFault, doubt: Tried['doubt']): Tried {
  if (doubt === undefined) return { fault }
  return { fault: doubt === 'network' ? { ...fault, lacksNetwork: true } : fault, doubt }
}

/** Its process ended in the construction, or was ended. */
function unanswered (tool: Tool, { ending }: CallEnd): Tried {
  const fault = (reason: string): ImportFault => ({ tool, what: 'construction', reason: `its class cannot be constructed: ${reason}` })
  switch (ending.kind) {
    case 'exit': return tried(fault(`exit status ${ending.code}`), undefined)
    // SIGKILL is also how the kernel ends a process that takes too much memory.
    case 'signal': return tried(fault(`signal: ${ending.signal}`), ending.signal === 'SIGKILL' ? 'shortage' : undefined)
    case 'timeout': return tried(fault(tooLong), 'slow')
    default: return tried(fault('its process is gone'), 'shortage')
  }
}

function doubtOf ({ code }: CallError): Tried['doubt'] {
  return code === 'TOOL_UNAVAILABLE' ? undefined : 'shortage'
}

/** Python's own names, and ours for an `execute` that is the one of `Tool`. */
const parameterKinds: ReadonlyArray<ExecuteParameter['kind']> = ['POSITIONAL_ONLY', 'POSITIONAL_OR_KEYWORD', 'VAR_POSITIONAL', 'KEYWORD_ONLY', 'VAR_KEYWORD', 'INHERITED']

/** The module may have reported anything; nothing where it isn't a signature. */
function readSignature (reported: unknown): { signature?: ExecuteParameter[] } {
  if (!Array.isArray(reported)) return {}
  const signature = reported.map(parameterOf).filter(parameter => parameter !== undefined)
  return signature.length === reported.length ? { signature } : {}
}

function parameterOf (reported: unknown): ExecuteParameter | undefined {
  if (!isRecord(reported)) return undefined
  const { name, kind, optional } = reported
  const known = parameterKinds.find(each => each === kind)
  return typeof name === 'string' && known !== undefined && typeof optional === 'boolean' ? { name, kind: known, optional } : undefined
}
