import { defaultLimits, type ProcessLimits } from '@toolyard/sandbox'
import { createDeferred } from '../wire/deferred.ts'
import { createForker, type Fork, type ForkedProcess, type Forker, type ShownSession } from './forker.ts'
import { runImport, type Import, type ImportedModule } from './import.ts'
import { createSpare, showing, type Spare } from './spare.ts'

/**
 * The process of one module, by its states:
 *
 * - importing: becomes serving, or retired when the module doesn't import;
 * - serving: forks for calls;
 * - retired: forks no more, since its sources changed, it can't be reached or isn't needed. Running calls go on;
 * - ended: after the last of them.
 */
export interface Template {
  imported: Promise<Import>
  /** Hands on the lines that the import prints, until the returned function is called. */
  follow (log: (line: string) => void): () => void
  /** Forks for a call, which counts as running until it is released. */
  fork (call: ForkOptions): Promise<Fork>
  retire (): void
  /** Fulfilled when all its processes are gone. */
  ended: Promise<void>
}

interface ForkOptions {
  limits: ProcessLimits
  /** Whether one may be forked for the next call as well. */
  ahead: boolean
  /** The session whose directory takes the place of the workspace. The call must not begin before it is shown. */
  session: ShownSession | undefined
}

export interface TemplateService {
  /** Gets the pids of processes that outlived SIGKILL. */
  onSurvivors: (pids: number[]) => void
}

/** Has a host fork a template, and the template import a module. */
export function createTemplate (host: Forker, module: ImportedModule, service: TemplateService): Template {
  const followers = new Set<(line: string) => void>()
  const ended = createDeferred<void>()
  let process: ForkedProcess | undefined
  let forker: Forker | undefined
  let spare: Spare | undefined
  let retired = false
  /** Calls, and the fork of the template itself. */
  let running = 1

  function leave (): void {
    running -= 1
    if (retired && running === 0) void stop()
  }

  function retire (): void {
    if (retired) return
    retired = true
    if (running === 0) void stop()
  }

  async function stop (): Promise<void> {
    const survivors = await spare?.close() ?? []
    if (survivors.length > 0) service.onSurvivors(survivors)
    if (process !== undefined) await endProcess(process, service)
    ended.resolve()
  }

  async function start (): Promise<Import> {
    const fork = await host.fork()
    if (fork.kind === 'forked') process = fork.process
    leave()
    if (fork.kind === 'refused' || fork.kind === 'unboxed') return fork
    if (process === undefined || retired) return { kind: 'lost' }
    for (const socket of [process.requests, process.replies]) socket.unref()
    const result = await runImport(process, module, line => { for (const log of followers) log(line) })
    if (retired) return { kind: 'lost' }
    if (result.kind === 'imported') serve(process)
    return result
  }

  function serve ({ requests, replies, tree, ended }: ForkedProcess): void {
    forker = createForker(tree, { requests, replies })
    spare = createSpare(forker)
    void forker.closed.then(retire)
    void ended.then(({ kind }) => {
      // The calls of a template that died are lost; those of one whose host died go on.
      if (kind !== 'lost') replies.destroy()
      retire()
    })
  }

  const imported = start()
  void imported.then(({ kind }) => { if (kind !== 'imported') retire() })

  return {
    imported,
    follow (log) {
      followers.add(log)
      return () => { followers.delete(log) }
    },
    async fork ({ limits, ahead, session }) {
      if (retired || forker === undefined || spare === undefined) return { kind: 'lost' }
      running += 1
      const show = session === undefined ? undefined : async (process: ForkedProcess) => await host.showSession(process, session)
      const fork = await (ahead && isUsual(limits) ? spare.take(show) : showing(await forker.fork(limits), show))
      if (fork.kind === 'forked') return { ...fork, process: leaving(fork.process, leave) }
      leave()
      return fork
    },
    retire,
    ended: ended.promise
  }
}

/** Limits of processes that were forked ahead. */
function isUsual (limits: ProcessLimits): boolean {
  const own: Readonly<Record<string, unknown>> = { ...limits }
  return Object.entries(defaultLimits).every(([name, value]) => own[name] === value)
}

function leaving (process: ForkedProcess, leave: () => void): ForkedProcess {
  return {
    ...process,
    release () {
      process.release()
      leave()
    }
  }
}

/** Its module may have started processes while it was imported. */
async function endProcess (process: ForkedProcess, { onSurvivors }: TemplateService): Promise<void> {
  for (const socket of [process.requests, process.replies]) socket.destroy()
  const survivors = await process.tree.kill()
  process.output.destroy()
  process.release()
  if (survivors.length > 0) onSurvivors(survivors)
}
