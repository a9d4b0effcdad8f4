import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Duplex, Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { CallError } from '@toolyard/contract'
import { killTree } from '../process/kill-tree.ts'
import { readProcess } from '../process/process-table.ts'
import type { ProcessPlan } from '../process/plan.ts'
import { startError } from '../process/start-error.ts'
import { createForker } from './forker.ts'
import { createTemplate, type Template, type TemplateService } from './template.ts'

/** The warm process of one Python root, and the templates of its modules. */
export interface Host {
  /** The template of a module (a dotted name); made when there is none. */
  template (module: string): Template
  /** Retires a template: the module's next call gets a new one. */
  retire (module: string, template: Template): void
  /** Fulfilled when the host's process can't be reached any more. Its templates are retired then. */
  closed: Promise<void>
  /** Kills the host, and its templates when their calls have ended. Fulfilled when nothing is left. */
  close (): Promise<void>
}

export interface HostService extends TemplateService {
  /** Told how a host ended that was not closed, with the last that it wrote. */
  onHostEnd: (root: string, message: string) => void
}

interface HostProcess {
  child: ChildProcess
  pid: number
  control: Duplex & { unref (): void }
  stderr: Readable & { unref (): void }
}

/** Beyond these, the template that was used longest ago is retired: each holds its module in memory. */
const maxTemplates = 32
const stderrChars = 4_096
const script = fileURLToPath(new URL('../../python/toolyard_host.py', import.meta.url))

/** Starts a host, or says why it can't be started. `plan` is a Python, its directory and its environment. */
export async function startHost (root: string, plan: Omit<ProcessPlan, 'args'>, service: HostService): Promise<Host | CallError> {
  const started = await spawnHost({ ...plan, args: ['-I', '-B', '-X', 'utf8', script, root, service.reception.path] })
  return 'child' in started ? createHost(root, started, service) : started
}

function createHost (root: string, { child, pid, control, stderr }: HostProcess, service: HostService): Host {
  const tree = { pid, started: readProcess(pid)?.started, mark: undefined }
  const forker = createForker(pid, control, service)
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

  function retire (module: string, template: Template): void {
    if (current.get(module) === template) current.delete(module)
    template.retire()
  }

  function create (module: string): Template {
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
    if (child.exitCode !== null || child.signalCode !== null) return
    child.ref()
    await killTree(tree, [])
    await exited
  }

  let ending: Promise<void> | undefined
  return {
    template (module) {
      const template = current.get(module) ?? create(module)
      // The order of the map is the order of use.
      current.delete(module)
      current.set(module, template)
      const [oldest] = current
      if (current.size > maxTemplates && oldest !== undefined) retire(...oldest)
      return template
    },
    retire,
    closed,
    close () {
      closing = true
      ending ??= end()
      return ending
    }
  }
}

/** As the leader of a session of its own, so that a Ctrl-C at the worker's terminal doesn't reach it. */
async function spawnHost (plan: ProcessPlan): Promise<HostProcess | CallError> {
  try {
    const child = spawn(plan.program, plan.args, {
      cwd: plan.cwd,
      // Node adds this variable from its own environment unless it finds it here.
      env: { NODE_V8_COVERAGE: undefined, ...plan.env },
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe', 'pipe']
    })
    child.on('error', () => {})
    if (child.pid === undefined) throw (await once(child, 'error'))[0]
    const [, , stderr, control] = child.stdio as unknown as [null, null, HostProcess['stderr'], HostProcess['control']]
    return { child, pid: child.pid, control, stderr }
  } catch (error) {
    return await startError(plan, error as NodeJS.ErrnoException)
  }
}
