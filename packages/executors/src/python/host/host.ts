import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { within } from '@toolyard/runtime'
import {
  boxError, type BoxStatus, type CallGroup,
  killBox, childrenOf, enterGroups, type ProcessGroups, type ProcessPlan, startError, unbuiltError,
  type HostBox, type InnerBoxPlan
} from '@toolyard/sandbox'
import type { Failure } from '../../run/outcome.ts'
import { createForker, patienceMs } from './forker.ts'
import { encodeFrame, firstMessage, type Message } from '../wire/frames.ts'
import type { ImportedModule } from './import.ts'
import { createTemplate, type Template, type TemplateService } from './template.ts'

/** The warm process of one Python root, and the templates of its modules. */
export interface Host {
  /** The template of a module; made when there is none. */
  template (module: ImportedModule): Template
  /** Retires a template: the module's next call gets a new one. */
  retire (template: Template): void
  /** Whether its box has the root that is there now. */
  isCurrent (): boolean
  /** Fulfilled when the host's process can't be reached any more. Its templates are retired then. */
  closed: Promise<void>
  /** Kills the host, and its templates when their calls have ended. Fulfilled when nothing is left. */
  close (): Promise<void>
}

export interface HostService extends TemplateService {
  /** Called when a host ended that was not closed; gets the last that it wrote. */
  onHostEnd: (root: string, message: string) => void
  /** Where it has a share of the processor, with all that it forks. */
  groups?: ProcessGroups | undefined
}

interface HostPlace {
  root: string
  /** The box that it and its calls are shut in. */
  box: HostBox
}

interface HostProcess {
  ok: true
  child: ChildProcess
  pid: number
  control: Socket
  stderr: Readable & { unref (): void }
  /** Of the box around it. */
  boxed: { status: BoxStatus, inner: InnerBoxPlan, depth: number }
}

/** Beyond these, the template that was used longest ago is retired: each holds its module in memory. */
const maxTemplates = 32
const stderrChars = 4_096
/** Behind stdin, stdout, stderr and the box's own. */
const controlDescriptor = 4
const script = fileURLToPath(new URL('../../../python/toolyard_host.py', import.meta.url))

/** Starts a host, or says why it can't be started. `plan` is a Python, its directory and its environment. */
export async function startHost (place: HostPlace, plan: Omit<ProcessPlan, 'args'>, service: HostService): Promise<{ ok: true, host: Host } | Failure> {
  const started = await spawnHost(place, plan)
  if (!started.ok) return started
  const { control, boxed } = started
  control.write(encodeFrame(boxed.inner))
  const answer = await firstAnswer(started)
  const share = service.groups?.share('host')
  const host = createHost(place, started, service, share)
  if (answer['ready'] !== true) {
    await host.close()
    return { ok: false, error: unbuiltError(String(answer['failed'])) }
  }
  try {
    // The host forks only when it is asked to, so none of its processes is outside the groups.
    if (share !== undefined) await enterGroups(share.members, chainOf(started.pid, boxed.depth))
    return { ok: true, host }
  } catch (error) {
    await host.close()
    throw error
  }
}

/** A host's first message; when it ends or stays without a word, what it printed. */
async function firstAnswer ({ control, stderr, child }: HostProcess): Promise<Message> {
  let printed = ''
  stderr.on('data', (chunk: Buffer) => { printed = (printed + chunk.toString('utf8')).slice(-stderrChars) })
  const answered = firstMessage(control.on('error', () => {}), stderrChars)
  const gone = once(child, 'close').then(() => ({ failed: printed.trim() || 'the Python host ended at once' }))
  return await within(patienceMs, Promise.race([answered, gone])) ?? { failed: printed.trim() || `the Python host said nothing for ${patienceMs / 1_000} s` }
}

function createHost (
  { root, box }: HostPlace, { child, pid, control, stderr, boxed }: HostProcess, service: HostService, share: CallGroup | undefined
): Host {
  const kill = (): Promise<number[]> => killBox(pid)
  const forker = createForker({ find: () => chainOf(pid, boxed.depth)[boxed.depth], kill }, { requests: control, replies: control })
  const current = new Map<string, Template>()
  const living = new Set<Template>()
  let closing = false
  let written = ''
  stderr.on('error', () => {}).on('data', (chunk: Buffer) => { written = (written + chunk.toString('utf8')).slice(-stderrChars) })
  const exited = new Promise<void>(resolve => { child.once('exit', () => { resolve() }) })
  for (const handle of [child, control, stderr]) handle.unref()

  const closed = forker.closed.then(() => {
    for (const template of living) template.retire()
    if (!closing) service.onHostEnd(root, written.trim())
  })

  function retire (template: Template): void {
    for (const [key, each] of current) if (each === template) current.delete(key)
    template.retire()
  }

  function create (module: ImportedModule): Template {
    const template = createTemplate(forker, module, service)
    living.add(template)
    void template.ended.then(() => { living.delete(template) })
    return template
  }

  async function end (): Promise<void> {
    for (const template of living) template.retire()
    await Promise.all([...living].map(({ ended }) => ended))
    control.destroy()
    stderr.destroy()
    if (child.exitCode === null && child.signalCode === null) {
      child.ref()
      await kill()
      await exited
    }
    boxed.status.close()
    await share?.remove()
  }

  let ending: Promise<void> | undefined
  return {
    template (module) {
      const key = JSON.stringify(module)
      const template = current.get(key) ?? create(module)
      // The order of the map is the order of use.
      current.delete(key)
      current.set(key, template)
      const [oldest] = current.values()
      if (current.size > maxTemplates && oldest !== undefined) retire(oldest)
      return template
    },
    retire,
    isCurrent: () => box.shows(root, chainOf(pid, boxed.depth).at(-1) ?? pid),
    closed,
    close () {
      closing = true
      ending ??= end()
      return ending
    }
  }
}

/** A process, its one child, and so on; fewer than `depth` behind it when some are gone. */
function chainOf (pid: number, depth: number): number[] {
  const [child] = depth === 0 ? [] : childrenOf(pid)
  return child === undefined ? [pid] : [pid, ...chainOf(child, depth - 1)]
}

/** A Python that runs `toolyard_host.py`: the host of a root, or with a module the one process of a call. */
export function hostPlan (basis: Omit<ProcessPlan, 'args'>, root: string, descriptor: number, ...module: string[]): ProcessPlan {
  return { ...basis, args: ['-I', '-B', '-X', 'utf8', script, root, String(descriptor), ...module], readable: [...basis.readable ?? [], dirname(script)] }
}

/** As the leader of a session of its own, so that a Ctrl-C at the worker's terminal doesn't reach it. */
async function spawnHost ({ root, box }: HostPlace, basis: Omit<ProcessPlan, 'args'>): Promise<HostProcess | Failure> {
  let entry: ReturnType<HostBox['enter']>
  const plan = hostPlan(basis, root, controlDescriptor)
  try {
    entry = box.enter({ ...plan, root })
  } catch (error) {
    return { ok: false, error: await boxError(plan, error) }
  }
  const files: number[] = []
  try {
    const { program, args, cwd, env } = entry.plan
    for (const file of entry.files) files.push(openSync(file, 'r+'))
    const child = spawn(program, args, {
      cwd,
      // Node adds this variable from its own environment unless it finds it here.
      env: { NODE_V8_COVERAGE: undefined, ...env },
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', ...files, 'pipe']
    })
    child.on('error', () => {})
    if (child.pid === undefined) throw (await once(child, 'error'))[0]
    const [stderr, link]: unknown[] = [child.stderr, child.stdio[controlDescriptor]]
    if (!(stderr instanceof Socket) || !(link instanceof Socket)) throw new Error('The host was started without its connections')
    return { ok: true, child, pid: child.pid, control: link, stderr, boxed: entry }
  } catch (error) {
    entry.status.close()
    return { ok: false, error: await startError(plan, error) }
  } finally {
    for (const fd of files) closeSync(fd)
  }
}
