import type { CallError } from '@toolyard/contract'
import type { PythonRun } from '@toolyard/manifests'
import { disconnect } from '../wire/connections.ts'
import type { SessionPlace } from '../../run/outcome.ts'
import { unlessInterrupted, type Interruption, shortageError, unbuiltError, type HostBox } from '@toolyard/sandbox'
import type { ShownSession } from '../host/forker.ts'
import type { CallProcess } from '../host/process-tree.ts'
import type { Hosts } from '../host/hosts.ts'
import type { Import } from '../host/import.ts'
import { moduleName } from '../host/module-name.ts'
import type { Template } from '../host/template.ts'

/** The process of a call, or why it has none. */
export type Opened =
  | { kind: 'opened', process: CallProcess }
  /** `lacksNetwork`: the import fails of a network that isn't there. */
  | { kind: 'unstarted', error: CallError, lacksNetwork?: boolean }
  | Interruption

interface OpenOptions {
  /** The box that the tool's host must be in; undefined: the call runs in the open, where `limit` is its own limits' command line. */
  box: HostBox | undefined
  limit?: readonly string[] | undefined
  /** The session whose directory the call has for its workspace. */
  session?: SessionPlace | undefined
  /** Whether this is no call, and none is expected soon: an import that isn't done by the deadline is given up. Default false. */
  once?: boolean
  /** Takes what the import prints, and the traceback when it fails. */
  onLine: (line: string) => void
  interrupted: Promise<Interruption>
  /** Gets the path of the Python, as soon as it is known. */
  onPython: (path: string) => void
}

/** Sources that change, and hosts that die, again and again, are not waited for. */
const maxAttempts = 4

/**
 * Forks a process for a call from the template of its module, which is made when there is none, or its sources changed.
 * An import that isn't done by the deadline goes on, for later calls. In the open, the process imports its module itself.
 */
export async function openCall (hosts: Hosts, run: PythonRun, options: OpenOptions): Promise<Opened> {
  const { box } = options
  if (box === undefined) {
    const plain = await hosts.startPlain(run, options.limit)
    if (!plain.ok) return { kind: 'unstarted', error: plain.error }
    options.onPython(plain.python)
    return { kind: 'opened', process: plain.process }
  }
  const module = { module: moduleName(run.module), file: run.pin?.file }
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const found = await unlessInterrupted(hosts.get(run.root, box), options.interrupted, async () => {})
    if (found.kind !== 'done') return found
    const started = found.value
    if (!started.ok) return { kind: 'unstarted', error: started.error }
    options.onPython(started.python)
    const template = started.host.template(module)
    const opened = await openWith(template, run, { ...options, box })
    if (opened === undefined || opened.kind === 'unstarted' || (options.once === true && opened.kind !== 'opened')) started.host.retire(template)
    if (opened !== undefined) return opened
  }
  return { kind: 'unstarted', error: { code: 'INTERNAL', message: `the Python host of module '${run.module}' does not stay` } }
}

/** Undefined when it is to be tried with another template. */
async function openWith (
  template: Template, run: PythonRun, { box, session, once = false, onLine, interrupted }: OpenOptions & { box: HostBox }
): Promise<Opened | undefined> {
  const unfollow = template.follow(onLine)
  const imported = await Promise.race([template.imported, interrupted])
  unfollow()
  if (imported.kind === 'timeout' || imported.kind === 'abort') {
    onLine(`module '${run.module}' is still being imported`)
    return imported
  }
  if (imported.kind !== 'imported') return failed(imported, run)
  const forking = template.fork({ limits: box.limits, ahead: !once, session: shownSession(session, box) })
  const answer = await unlessInterrupted(forking, interrupted, async begun => {
    const late = await begun
    if (late.kind === 'forked') await end(late.process)
  })
  if (answer.kind !== 'done') return answer
  const fork = answer.value
  if (fork.kind === 'forked') return fork.shown === undefined ? { kind: 'opened', process: fork.process } : await untilShown(fork.process, fork.shown, interrupted)
  return fork.kind === 'refused' || fork.kind === 'unboxed' ? failed(fork, run) : undefined
}

/** Undefined for a call that sees no session. */
function shownSession (session: SessionPlace | undefined, box: HostBox): ShownSession | undefined {
  if (session === undefined || box.sessionAccess === 'none') return undefined
  return { id: session.id, isWritable: box.sessionAccess === 'write' }
}

/** Where its session can't be shown, the process is gone. */
async function untilShown (
  process: CallProcess, shown: Promise<string | undefined>, interrupted: Promise<Interruption>
): Promise<Opened> {
  const fault = await Promise.race([shown, interrupted])
  if (fault === undefined) return { kind: 'opened', process }
  await end(process)
  if (typeof fault !== 'string') return fault
  const ending = await process.ended
  return { kind: 'unstarted', error: unbuiltError(ending.kind === 'unboxed' ? ending.cause : `the session can't be shown to the call: ${fault}`) }
}

async function end (process: CallProcess): Promise<void> {
  disconnect(process)
  await process.tree.kill()
  process.release()
}

function failed (result: Exclude<Import, { kind: 'imported' }>, { module }: PythonRun): Opened | undefined {
  if (result.kind === 'lost') return undefined
  if (result.kind === 'unboxed') return { kind: 'unstarted', error: unbuiltError(result.cause) }
  if (result.kind === 'refused') return { kind: 'unstarted', error: shortageError(result.cause) }
  return { kind: 'unstarted', error: { code: 'TOOL_UNAVAILABLE', message: `module '${module}' does not import: ${result.reason}` }, lacksNetwork: result.lacksNetwork === true }
}
