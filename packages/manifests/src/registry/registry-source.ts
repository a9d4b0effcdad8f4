import { setImmediate } from 'node:timers/promises'
import { asError } from '@toolyard/contract/terms'
import type { Finding } from '../finding/finding.ts'
import { createFileStates } from './file-states.ts'
import type { ImportFaults } from './import-faults.ts'
import { loadRegistry, type Registry, type RegistryOptions } from './registry.ts'

/*
 * The registry over time: read at the start, then again whenever one of its files changes, or on request. Files are
 * looked at, not watched; a change counts once the next look finds nothing new. What an error of the new version
 * takes away stays as it was. See docs/decisions/0059-registry-reload.md.
 */

/** For so long, in milliseconds, nothing may change before a change counts: longer than an editor takes to write. */
const settleMs = 100
/** A look at a thousand files takes some 20 ms of a processor: with many of them, looks are further apart. */
const filesPerMs = 2

export interface ReloadResult {
  kind: 'unchanged' | 'replaced'
  registry: Registry
  /** The findings for which something is served as it was before. */
  errors: readonly Finding[]
  /** Something was served as it was before until now. */
  hadErrors: boolean
}

interface RegistrySourceOptions extends RegistryOptions {
  /** Gets the result of every reload, whoever asked for it. */
  onReload: (result: ReloadResult) => void
  /** Milliseconds between looks at the files, at least; default 500. */
  intervalMs?: number
}

export interface RegistrySource {
  /** The registry of now; it is replaced at once, never changed. */
  current: () => Registry
  /** Why something isn't served as the newest version of the files has it; empty when all is. */
  problems: () => readonly Finding[]
  /** Reads the files again now. */
  reload: () => Promise<ReloadResult>
  /** Serves from now on what there is without the tools that can't be imported. Nothing is read, and nothing refused. */
  setImportFaults: (faults: ImportFaults) => Registry
  close: () => void
}

/** Loads the registry and keeps it up to date until it is closed. */
export async function openRegistrySource (options: RegistrySourceOptions): Promise<RegistrySource> {
  let registry = await loadRegistry(options)
  let problems: readonly Finding[] = []
  let files = filesOf(options, registry)
  const statesOf = createFileStates()
  let read = await statesOf(files)
  let seen = read
  let reloading: Promise<ReloadResult> | undefined
  let nextReload: Promise<ReloadResult> | undefined
  let closed = false
  let faults: ImportFaults = new Map()

  const reread = async (): ReturnType<Registry['keeping']> => await registry.reload()
    .then(async next => {
      // To put thousands of files and tools together takes much of a turn of the event loop.
      await setImmediate()
      return await next.keeping(registry)
    })
    .catch((error: unknown) => ({ registry, errors: options.manifests.map(file => unforeseen(error, file)) }))
  const replace = async (): Promise<ReloadResult> => {
    const before = await statesOf(files)
    const known = faults
    const { registry: reloaded, errors } = await reread()
    files = filesOf(options, reloaded, registry)
    // Taken before the load: a change during it leads to another one.
    read = before === await statesOf(files) ? before : ''
    // Those that came meanwhile; from here on nothing is waited for.
    const next = faults === known ? reloaded : reloaded.withImportFaults(faults)
    const result: ReloadResult = {
      kind: next.version === registry.version ? 'unchanged' : 'replaced', registry: next, errors, hadErrors: problems.length > 0
    }
    problems = errors
    registry = next
    options.onReload(result)
    return result
  }
  const startReload = async (): Promise<ReloadResult> => {
    nextReload = undefined
    reloading = replace().finally(() => { reloading = undefined })
    return await reloading
  }
  /** One that runs may have read files before they changed: all who ask meanwhile get the result of the next one. */
  const reload = async (): Promise<ReloadResult> => {
    if (reloading === undefined) return await startReload()
    nextReload ??= reloading.then(startReload, startReload)
    return await nextReload
  }
  const intervalMs = (): number => Math.max(options.intervalMs ?? 500, files.length / filesPerMs)
  /** Gives the milliseconds until the next look: a change is looked at again soon, since somebody waits for it. */
  const look = async (): Promise<number> => {
    const now = await statesOf(files)
    const settled = now === seen
    seen = now
    if (settled && now !== read) await reload()
    return settled ? intervalMs() : Math.min(intervalMs(), settleMs)
  }
  let timer: NodeJS.Timeout
  const schedule = (ms: number): void => {
    let next = intervalMs()
    timer = setTimeout(() => { void look().then(ms => { next = ms }).finally(() => { if (!closed) schedule(next) }) }, ms)
    timer.unref()
  }
  schedule(intervalMs())
  return {
    current: () => registry,
    problems: () => problems,
    reload,
    setImportFaults: next => {
      faults = next
      registry = registry.withImportFaults(faults)
      return registry
    },
    close: () => {
      closed = true
      clearTimeout(timer)
    }
  }
}

/** A fault of this program, which what somebody has written may meet, takes nothing away that is served. */
function unforeseen (error: unknown, file: string): Finding {
  return { severity: 'error', whole: true, file, rule: 'manifests/reload', message: `The manifests can't be read again: ${String(asError(error).stack)}` }
}

function filesOf (options: RegistryOptions, ...registries: readonly Registry[]): string[] {
  return [...new Set([...options.manifests, ...registries.flatMap(({ files }) => files)])]
}
