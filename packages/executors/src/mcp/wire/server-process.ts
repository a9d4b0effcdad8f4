import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallError } from '@toolyard/contract'
import type { McpConnection } from '@toolyard/manifests'
import { startProcess, shortageOf, terminate, findOnPath, unbuiltError, type ProcessPlan, type ProcessHost, type Shortage } from '@toolyard/sandbox'
import { toolEnvironment } from '../../run/environment.ts'
import { failure, shortageText, type Failure } from '../../run/outcome.ts'
import type { WorkerHost } from '../../run/tool-call.ts'
import { settingTexts } from './setting-text.ts'

/** How long a server may take to end by itself once its stdin has ended. */
const graceMs = 250

/** One server's own, beside what all share. */
export interface ServerPlace extends Pick<ProcessHost, 'box' | 'limit'> {
  /** As its process sees it; absent: that of the worker. */
  workspaceDir?: string
  stored?: ReadonlyMap<string, string> | undefined
  /** Whose connection it is; absent for the operator's. */
  scope?: string
  /** The tenant, or the key of an operator; absent where nobody calls. */
  owner?: string
  sessionId?: string
}

export interface ServerProcess {
  stdin: Writable
  stdout: Readable
  stderr: Readable
  /** Says whether no call uses it: what it does by itself leaves the processor to calls. */
  rest: (isResting: boolean) => void
  /** Fulfilled with how it ended by itself. */
  exited: Promise<string>
  /** Ends it with all that it has started. To be called once, also when it has ended by itself. */
  end (): Promise<void>
}

/** Starts a server as commands are started: in the workspace, with a clean environment, in the box if there is one. */
export async function startServer (
  connection: Extract<McpConnection, { kind: 'stdio' }>, { env: own, launcher, pins, onSurvivors, workspaceDir, sandbox }: WorkerHost, place: ServerPlace
): Promise<{ ok: true, server: ServerProcess } | Failure> {
  const env = settingTexts(connection.env, { env: own, stored: place.stored })
  if (!env.ok) return failure('TOOL_UNAVAILABLE', `the worker has no ${env.missing}`)
  const unfit = Object.entries(env.texts).find(([, value]) => value.includes('\0'))
  if (unfit !== undefined) return failure('TOOL_UNAVAILABLE', `the value of its variable ${unfit[0]} holds a NUL character`)
  const { variables } = toolEnvironment([], own)
  const program = connection.program.startsWith('/') ? connection.program : findOnPath(connection.program, variables['PATH'])
  if (program === undefined) return failure('TOOL_UNAVAILABLE', `there is no program ${JSON.stringify(connection.program)} on the PATH of the worker`)
  const { program: name, args } = connection
  const plan: ProcessPlan = { program, name, args, env: { ...variables, ...env.texts }, cwd: place.workspaceDir ?? workspaceDir }
  const start = await startProcess(plan, { launcher, pins, box: place.box, limit: place.limit }, { stdin: undefined })
  if (!start.started) return { ok: false, error: start.error }
  const { child, box } = start
  let shortage: Shortage | undefined
  const { scope, owner } = place
  const ended = (short: Shortage): void => { shortage = short }
  const disown = scope === undefined || owner === undefined ? undefined : sandbox?.groups?.own(child.pid, { owner, ended })
  const resting = sandbox?.groups?.resting(child.pid)
  let isOver = false
  const exited = child.exited.then(ending => {
    isOver = true
    // The next call in its group has its share.
    resting?.(false)
    if (shortage !== undefined) return shortageText('this server', shortage)
    return ending.kind === 'exit' ? `exit status ${ending.code}` : ending.kind === 'signal' ? `signal ${ending.signal}` : 'it was lost'
  })
  const { stdin } = child
  if (stdin === undefined) throw new Error('A process was started without an input')
  const server: ServerProcess = {
    stdin: stdin.on('error', () => {}),
    stdout: child.stdout,
    stderr: child.stderr.on('error', () => {}),
    exited,
    rest (isResting) { if (!isOver) resting?.(isResting) },
    async end () {
      // Else it could take long to go.
      resting?.(false)
      isOver = true
      stdin.end()
      await Promise.race([exited, sleep(graceMs, undefined, { ref: false })])
      const survivors = await terminate(start)
      disown?.()
      child.release()
      box?.close()
      if (survivors.length > 0) onSurvivors(survivors)
    }
  }
  return { ok: true, server }
}

/** Of a program that fails: what surrounds the line that says why. */
const around = /^(?:\s+at |Node\.js v|node:|Traceback |\s+File "|[\s^~{}]*$)/
const namesError = /^(?:[\w.]*(?:error|exception)\b|fatal|panic)/i
const saysWhy = /error|exception|fatal|panic|cannot|can't|could not|fail|missing|required|denied|not found|unknown|invalid|\bno\b/i

/** The line of the first ones of stderr that says why a program has ended; undefined where it wrote nothing. */
export function tellingLine (lines: readonly string[]): string | undefined {
  const told = lines.filter(line => !around.test(line))
  return (told.find(line => namesError.test(line)) ?? told.find(line => saysWhy.test(line)) ?? told.at(-1))?.trim()
}

/** The worker's shortage, for which bubblewrap could not build the box of a server; undefined where its lines say something else. */
export function shortageOfBox (lines: readonly string[]): CallError | undefined {
  const said = lines.find(line => line.startsWith('bwrap: '))
  const error = said === undefined ? undefined : unbuiltError(said)
  return error !== undefined && shortageOf(error) !== undefined ? error : undefined
}
