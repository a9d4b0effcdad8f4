import type { CallError } from '@toolyard/contract'
import type { ImportFault, PythonRun, Tool } from '@toolyard/manifests'
import { toolEnvironment } from '../command/environment.ts'
import { startDeadline } from '../deadline.ts'
import { createMarks } from '../process/mark.ts'
import type { HostBox } from '../sandbox/host-box.ts'
import { openSandbox, type SandboxOptions } from '../sandbox/sandbox.ts'
import { createHosts, type Hosts } from './hosts.ts'
import { openCall } from './open-call.ts'
import { runCall } from './run-call.ts'

/** For one tool: its import, and the search for its class. */
const timeoutMs = 90_000

/**
 * Imports the modules of Python tools as their first calls would, in the sandbox where there is one, and looks for their
 * classes (P16, P17, P29, PC4). None is constructed or executed. What is wrong with the machine, such as a missing
 * Python, is the reason of each tool's fault.
 *
 * @throws SandboxError in mode `require`
 */
export async function tryImports (tools: readonly Tool[], options: Pick<SandboxOptions, 'mode' | 'env' | 'workspaceDir' | 'defaultPermissions'>): Promise<ImportFault[]> {
  if (tools.every(tool => tool.run.kind !== 'python')) return []
  const sandbox = await openSandbox({ ...options, hidden: [], python: true })
  const hosts = createHosts({ env: toolEnvironment([], options.env).variables, workspaceDir: options.workspaceDir, marks: createMarks(), onSurvivors: () => {}, onHostEnd: () => {}, groupMembers: [] })
  try {
    const tried = await tryModule(tools, { hosts, workspaceDir: options.workspaceDir, boxOf: tool => sandbox.hostBoxOf(tool) })
    return tried.flatMap(({ fault }) => fault ?? [])
  } finally {
    await hosts.close()
    sandbox.close()
  }
}

/** What a try works with. */
interface ImportTry {
  hosts: Hosts
  /** The box that the tool's host must be in; undefined: none. */
  box: HostBox | undefined
  workspaceDir: string
}

/** What came of a try: the module and its class are there unless there is a fault. */
export interface Tried {
  fault?: ImportFault
  /** Why the fault may be none of the tool: this machine is out of something at the moment, or the import was given up. */
  doubt?: 'shortage' | 'slow'
}

/**
 * Tries tools of one module, which stays imported for their calls. One whose import was given up is dropped: it may never
 * end.
 *
 * @param boxOf gives undefined for what runs in the open
 */
export async function tryModule (tools: readonly Tool[], { hosts, workspaceDir, boxOf }: Omit<ImportTry, 'box'> & { boxOf: (tool: Tool) => HostBox | undefined }): Promise<Tried[]> {
  const results: Tried[] = []
  for (const tool of tools) {
    const { run } = tool
    results.push(run.kind === 'python' ? await tryImport({ tool, run }, { hosts, box: boxOf(tool), workspaceDir }) : {})
  }
  return results
}

/** Imports the module of one tool as its first call would, and looks for its class. */
async function tryImport ({ tool, run }: { tool: Tool, run: PythonRun }, { hosts, box, workspaceDir }: ImportTry): Promise<Tried> {
  const deadline = startDeadline(timeoutMs, new AbortController().signal)
  try {
    const opened = await openCall(hosts, run, { box, once: true, onLine: () => {}, interrupted: deadline.interrupted, onPython: () => {} })
    if (opened.kind === 'unstarted') {
      const reason = opened.error.message.replace(`module '${run.module}' does not import: `, '')
      return { fault: { tool, what: 'module', reason }, ...doubtOf(opened.error) }
    }
    if (opened.kind !== 'opened') {
      return { fault: { tool, what: 'module', reason: `it takes longer than ${timeoutMs / 1_000} s` }, doubt: 'slow' }
    }
    const request = { class: run.className ?? null, name: tool.name, description: tool.description, config: run.config, arguments: null, cwd: workspaceDir, max_bytes: 0 }
    const { reply } = await runCall(opened.process, request, { deadline, onLine: () => {}, onSurvivors: () => {}, group: undefined })
    // What a try returns is never looked at.
    const outcome = await reply.outcome(() => Promise.resolve({ ok: true, output: undefined }))
    return outcome === undefined || outcome.ok ? {} : { fault: { tool, what: 'class', reason: outcome.error.message }, ...doubtOf(outcome.error) }
  } finally {
    deadline.clear()
  }
}

function doubtOf ({ code }: CallError): Pick<Tried, 'doubt'> {
  return code === 'TOOL_UNAVAILABLE' ? {} : { doubt: 'shortage' }
}
