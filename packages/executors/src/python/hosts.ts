import type { CallError } from '@toolyard/contract'
import type { ProcessHost } from '../process/run-process.ts'
import { startHost, type Host, type HostService } from './host.ts'
import { findInterpreter } from './interpreter.ts'
import { openReception, type Reception } from './reception.ts'

export interface HostsOptions extends ProcessHost {
  workspaceDir: string
  /** The whole environment of hosts, and so of tools. */
  env: Readonly<Record<string, string>>
  onHostEnd: HostService['onHostEnd']
}

/** The hosts of a worker, one for each Python root, started at first use and again when they died. */
export interface Hosts {
  /** The host of a root, with the path of its Python; or why there is none. */
  get (root: string): Promise<{ host: Host, python: string } | { error: CallError }>
  /** Ends all hosts; no call may be running. */
  close (): Promise<void>
}

type Started = Awaited<ReturnType<Hosts['get']>>

/** Makes the hosts of a worker; nothing is started before the first use. */
export function createHosts (options: HostsOptions): Hosts {
  const byRoot = new Map<string, Promise<Started>>()
  const living = new Set<Host>()
  let reception: Promise<Reception> | undefined
  let python: Promise<string | CallError> | undefined

  async function start (root: string): Promise<Started> {
    python ??= findPython(options.env)
    const program = await python
    const started = typeof program === 'string' ? await startWith(program, root) : { error: program }
    if ('host' in started) return started
    // It may be installed, or replaced, by the next call.
    python = undefined
    byRoot.delete(root)
    return started
  }

  async function startWith (program: string, root: string): Promise<Started> {
    reception ??= openReception()
    const service = { ...options, reception: await reception }
    const host = await startHost(root, { program, env: options.env, cwd: options.workspaceDir }, service)
    if ('code' in host) return { error: host }
    living.add(host)
    void host.closed.then(async () => {
      byRoot.delete(root)
      await host.close()
      living.delete(host)
    })
    return { host, python: program }
  }

  return {
    get (root) {
      const started = byRoot.get(root) ?? start(root)
      byRoot.set(root, started)
      return started
    },
    async close () {
      await Promise.all(byRoot.values())
      await Promise.all([...living].map(host => host.close()))
      await (await reception)?.close()
      reception = undefined
    }
  }
}

async function findPython (env: HostsOptions['env']): Promise<string | CallError> {
  const found = await findInterpreter(env)
  return 'path' in found ? found.path : { code: 'TOOL_UNAVAILABLE', message: found.missing }
}
