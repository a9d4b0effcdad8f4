import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CallError } from '@toolyard/contract'
import type { McpConnection } from '@toolyard/manifests'
import { startProcess, terminate, findOnPath, type ProcessPlan, type ProcessHost } from '@toolyard/sandbox'
import { toolEnvironment } from '../run/environment.ts'
import { settingTexts, type SettingValues } from './setting-text.ts'

/** How long a server may take to end by itself once its stdin has ended. */
const graceMs = 250

export interface ServerProcessHost extends ProcessHost, SettingValues {
  workspaceDir: string
}

export interface ServerProcess {
  stdin: Writable
  stdout: Readable
  stderr: Readable
  /** Fulfilled with how it ended by itself. */
  exited: Promise<string>
  /** Ends it with all that it has started. To be called once, also when it has ended by itself. */
  end (): Promise<void>
}

/** Starts a server as commands are started: in the workspace, with a clean environment, in the box if there is one. */
export async function startServer (connection: Extract<McpConnection, { kind: 'stdio' }>, host: ServerProcessHost): Promise<ServerProcess | CallError> {
  const env = settingTexts(connection.env, host)
  if ('missing' in env) return { code: 'TOOL_UNAVAILABLE', message: `the worker has no ${env.missing}` }
  const unfit = Object.entries(env.texts).find(([, value]) => value.includes('\0'))
  if (unfit !== undefined) return { code: 'TOOL_UNAVAILABLE', message: `the value of its variable ${unfit[0]} holds a NUL character` }
  const { variables } = toolEnvironment([], host.env)
  const program = connection.program.startsWith('/') ? connection.program : findOnPath(connection.program, variables['PATH'])
  if (program === undefined) return { code: 'TOOL_UNAVAILABLE', message: `there is no program ${JSON.stringify(connection.program)} on the PATH of the worker` }
  const { program: name, args } = connection
  const plan: ProcessPlan = { program, name, args, env: { ...variables, ...env.texts }, cwd: host.workspaceDir }
  const start = await startProcess(plan, host, { stdin: undefined })
  if (!start.started) return start.error
  const { child, box } = start
  const exited = child.exited.then(ending => ending.kind === 'exit' ? `exit status ${ending.code}` : ending.kind === 'signal' ? `signal ${ending.signal}` : 'it was lost')
  const { stdin } = child
  if (stdin === undefined) throw new Error('A process was started without an input')
  return {
    stdin: stdin.on('error', () => {}),
    stdout: child.stdout,
    stderr: child.stderr.on('error', () => {}),
    exited,
    async end () {
      stdin.end()
      await Promise.race([exited, sleep(graceMs, undefined, { ref: false })])
      const survivors = await terminate(start)
      child.release()
      box?.close()
      if (survivors.length > 0) host.onSurvivors(survivors)
    }
  }
}
