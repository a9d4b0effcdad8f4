import type { CallError } from '@toolyard/contract'
import { errorCode } from '@toolyard/contract/terms'
import { shortageError, type ProcessHost, type HostBox } from '@toolyard/sandbox'
import { startHost, type Host, type HostService } from './host.ts'
import { findInterpreter, type FoundInterpreter } from './interpreter.ts'
import { openReception, type Reception } from '../wire/reception.ts'

export interface HostsOptions extends Pick<ProcessHost, 'marks' | 'onSurvivors'> {
  workspaceDir: string
  /** The whole environment of hosts, and so of tools. */
  env: Readonly<Record<string, string>>
  onHostEnd: HostService['onHostEnd']
  /** Files of the control groups that hosts belong to, with their calls. */
  groupMembers: readonly string[]
}

/** The hosts of a worker, one for each Python root and box, started at first use and again when they died. */
export interface Hosts {
  /** The host of a root, with the path of its Python; or why there is none. Without a box it runs in the open. */
  get (root: string, box: HostBox | undefined): Promise<{ host: Host, python: string } | { error: CallError }>
  /** Ends all hosts; no call may be running. */
  close (): Promise<void>
}

type Started = Awaited<ReturnType<Hosts['get']>>

/** Makes the hosts of a worker; nothing is started before the first use. */
export function createHosts (options: HostsOptions): Hosts {
  const byPlace = new Map<string, Place>()
  const living = new Set<Host>()
  let reception: Promise<Reception> | undefined
  let python: Promise<FoundInterpreter | CallError> | undefined

  function open (key: string, root: string, box: HostBox | undefined): Place {
    const place = { started: start(root, box).catch(unstarted), stamp: box?.stamp(root) }
    byPlace.set(key, place)
    void place.started.then(async started => {
      if ('host' in started) await started.host.closed
      // It may be installed, or replaced, by the next call.
      else python = undefined
      if (byPlace.get(key) === place) byPlace.delete(key)
    })
    return place
  }

  /** If it can't be opened, the next call tries again. */
  async function openedReception (): Promise<Reception> {
    reception ??= openReception()
    try {
      return await reception
    } catch (error) {
      reception = undefined
      throw error
    }
  }

  async function start (root: string, box: HostBox | undefined): Promise<Started> {
    python ??= findPython(options.env)
    const found = await python
    if ('code' in found) return { error: found }
    const within = box ?? await openedReception()
    const host = await startHost(
      { root, within }, { program: found.path, env: options.env, cwd: options.workspaceDir, readable: found.modulePaths }, options
    )
    if ('code' in host) return { error: host }
    living.add(host)
    void host.closed.then(async () => {
      await host.close()
      living.delete(host)
    })
    return { host, python: found.path }
  }

  return {
    get (root, box) {
      const key = JSON.stringify([root, box?.key])
      const place = byPlace.get(key)
      if (place !== undefined && place.stamp === box?.stamp(root)) return place.started
      if (place !== undefined) void place.started.then(async started => { if ('host' in started) await started.host.close() })
      return open(key, root, box).started
    },
    async close () {
      await Promise.all([...byPlace.values()].map(({ started }) => started))
      await Promise.all([...living].map(host => host.close()))
      await (await reception)?.close()
      reception = undefined
    }
  }
}

interface Place {
  started: Promise<Started>
  /** Of its box, from before that was built. */
  stamp: string | undefined
}

async function findPython (env: HostsOptions['env']): Promise<FoundInterpreter | CallError> {
  const found = await findInterpreter(env)
  return 'path' in found ? found : { code: 'TOOL_UNAVAILABLE', message: found.missing }
}

/** The code alone: the kernel's message may name paths. */
function unstarted (error: unknown): { error: CallError } {
  return { error: shortageError(errorCode(error) ?? 'unknown', 'start a Python host') }
}
