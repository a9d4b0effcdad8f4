import type { PythonRun } from '@toolyard/manifests'
import { errorCode, storedJson } from '@toolyard/contract/terms'
import { isShortage, shortageError, type ProcessGroups, type ProcessHost, type ProcessPlan, type HostBox } from '@toolyard/sandbox'
import { type Failure, failure } from '../../run/outcome.ts'
import { startHost, type Host, type HostService } from './host.ts'
import { startPlain } from './plain-process.ts'
import type { CallProcess } from './process-tree.ts'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

interface HostsOptions extends Pick<ProcessHost, 'onSurvivors'> {
  workspaceDir: string
  /** The whole environment of hosts, and so of tools. */
  env: Readonly<Record<string, string>>
  onHostEnd: HostService['onHostEnd']
  /** Where each host has a share of the processor, with its calls. */
  groups?: ProcessGroups | undefined
}

/** The hosts of a worker, one for each Python root and box, started at first use and again when they died. */
export interface Hosts {
  /** The host of a root, with the path of its Python; or why there is none. */
  get (root: string, box: HostBox): Promise<{ ok: true, host: Host, python: string } | Failure>
  /** In the open, each call has a process of its own. `limit` as in `startPlain`. */
  startPlain (run: PythonRun, limit?: readonly string[]): Promise<{ ok: true, process: CallProcess, python: string } | Failure>
  /** Ends the hosts in a network, which no call uses any more. */
  endNetwork (key: string): void
  /** Ends all hosts; no call may be running. */
  close (): Promise<void>
}

/** A root that is replaced again and again is not waited for. */
const mostStarts = 4

type Started = Awaited<ReturnType<Hosts['get']>>

/** Makes the hosts of a worker; nothing is started before the first use. */
export function createHosts (options: HostsOptions): Hosts {
  const byPlace = new Map<string, Place>()
  const living = new Set<Host>()
  let python: Promise<Interpreter> | undefined

  function open (key: string, root: string, box: HostBox): Place {
    const place = { started: start(root, box).catch(unstarted), stamp: box.stamp(root), network: box.network }
    byPlace.set(key, place)
    void place.started.then(async started => {
      if (started.ok) await started.host.closed
      // It may be installed, or replaced, by the next call.
      else python = undefined
      if (byPlace.get(key) === place) byPlace.delete(key)
    })
    return place
  }

  async function findBasis (): Promise<{ ok: true, basis: Omit<ProcessPlan, 'args'> } | Failure> {
    python ??= findInterpreter(options.env)
    const found = await python.catch(unstarted)
    // It may be installed by the next call.
    if (!found.ok) python = undefined
    const { env, workspaceDir: cwd } = options
    return found.ok ? { ok: true, basis: { program: found.path, env, cwd, readable: found.modulePaths } } : found
  }

  async function start (root: string, box: HostBox): Promise<Started> {
    const found = await findBasis()
    if (!found.ok) return found
    for (let left = mostStarts; ; left--) {
      const stamp = box.stamp(root)
      const started = await startHost({ root, box }, found.basis, options)
      if (!started.ok) return started
      const { host } = started
      living.add(host)
      void host.closed.then(async () => {
        await host.close()
        living.delete(host)
      })
      // What was replaced while its box was built would be missing there for all calls to come.
      if (left === 1 || (box.stamp(root) === stamp && host.isCurrent())) return { ok: true, host, python: found.basis.program }
      await host.close()
    }
  }

  return {
    get (root, box) {
      const key = JSON.stringify([root, box.key])
      const place = byPlace.get(key)
      if (place !== undefined && place.stamp === box.stamp(root)) return place.started
      if (place !== undefined) void place.started.then(async started => { if (started.ok) await started.host.close() })
      return open(key, root, box).started
    },
    async startPlain (run, limit) {
      const found = await findBasis()
      if (!found.ok) return found
      const started = await startPlain(run, found.basis, limit)
      return started.ok ? { ...started, python: found.basis.program } : started
    },
    endNetwork (key) {
      for (const [id, place] of byPlace) {
        if (place.network !== key) continue
        byPlace.delete(id)
        void place.started.then(async started => { if (started.ok) await started.host.close() })
      }
    },
    async close () {
      await Promise.all([...byPlace.values()].map(({ started }) => started))
      await Promise.all([...living].map(host => host.close()))
    }
  }
}

interface Place {
  started: Promise<Started>
  /** Of its box, from before that was built. */
  stamp: string
  network: string | undefined
}

/** The code alone: the kernel's message may name paths. */
function unstarted (error: unknown): Failure {
  return { ok: false, error: shortageError(errorCode(error) ?? 'unknown', 'start a Python host') }
}

/** A Python that can run the host, and where it looks for modules, which may be missing; or why there is none. */
type Interpreter = { ok: true, path: string, modulePaths: readonly string[] } | Failure

const names = ['python3', 'python']
const oldest: readonly [number, number] = [3, 9]
const probe = 'import json, sys; print(json.dumps([sys.executable, *sys.version_info[:2], sys.path]))'
const probeTimeoutMs = 20_000

type Found = [path: string, major: number, minor: number, modulePaths: string[]]

/**
 * Looks for `python3`, then `python`, on the PATH of `env`, at least 3.9. The path is the interpreter's own: what is on
 * the PATH may be a script that only finds it.
 */
async function findInterpreter (env: Readonly<Record<string, string>>): Promise<Interpreter> {
  let missing = 'python3 is not installed'
  for (const name of names) {
    const found = await probeInterpreter(name, env)
    if (found === undefined) continue
    const [path, major, minor, modulePaths] = found
    if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return { ok: true, path, modulePaths }
    missing = `${name} is ${major}.${minor}, but tools need ${oldest.join('.')} or later`
  }
  return failure('TOOL_UNAVAILABLE', missing)
}

async function probeInterpreter (name: string, env: Readonly<Record<string, string>>): Promise<Found | undefined> {
  try {
    const { stdout } = await promisify(execFile)(name, ['-I', '-c', probe], { env: { NODE_V8_COVERAGE: undefined, ...env }, timeout: probeTimeoutMs })
    const [path, ...rest] = storedJson<[string | null, number, number, string[]]>(stdout)
    return [path === null || path === '' ? name : path, ...rest]
  } catch (error) {
    // It may be there all the same.
    if (isShortage(error)) throw error
    return undefined
  }
}
