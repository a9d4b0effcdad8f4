import type { Executors } from '@toolyard/executors'
import { importFinding, reportFindings, type ImportedTool, type PythonRun, type RegistrySource } from '@toolyard/manifests'
import { RedisUnavailableError, type ImportFaultTable, type SharedImportFault } from '@toolyard/store'
import type { Logger } from '@toolyard/runtime'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'

interface ImportWatchOptions {
  tools: RegistrySource
  executors: Executors
  table: ImportFaultTable
  logger: Logger
}

interface Tried {
  /** How the source looked. */
  stamp: string
  at: number
  /** How often it failed in a row. */
  failures: number
}

interface Due extends ImportedTool {
  stamp: string
  /** Whether the table has a fault of it. */
  wasListed: boolean
  /** How often the same source failed in a row. */
  failures: number
}

/** Between two looks at sources, in milliseconds. */
const lookMs = 2_000
/** A broken module is tried again after 4 s, 8 s and so on, up to this long, which is well below what the table keeps it for. */
const longestPauseMs = 30_000
/** A fault that another worker took back is reported again after so long: that one may have had older sources, and be gone. */
const againMs = 60_000

/**
 * Imports the modules of Python tools when the worker starts, and again when one has changed, so that a tool that can't
 * be loaded is known before it is called, and isn't published. What is broken is tried again and again: what a
 * module imports may be mended or installed.
 */
export class ImportWatch {
  readonly #options: ImportWatchOptions
  readonly #tried = new Map<string, Tried>()
  /** Why a declaration could not be tried when it was last said: it is tried at each look. */
  readonly #shortages = new Map<string, string>()
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  constructor (options: ImportWatchOptions) {
    this.#options = options
  }

  /** Goes on until it is stopped; fulfilled when every module was tried once. */
  async start (): Promise<void> {
    await this.#follow()
  }

  stop (): void {
    this.#stopped = true
    clearTimeout(this.#timer)
  }

  async #follow (): Promise<void> {
    await this.#look()
    if (!this.#stopped) this.#timer = setTimeout(() => { void this.#follow() }, lookMs).unref()
  }

  async #look (): Promise<void> {
    for (const due of await this.#due()) {
      if (this.#stopped) return
      try {
        await this.#try(due)
      } catch (error) {
        // The table is told at the next look.
        for (const { key } of due) this.#tried.delete(key)
        if (!(error instanceof RedisUnavailableError)) this.#options.logger.error({ err: error, tools: due.map(({ tool }) => tool.name) }, 'a module could not be tried')
      }
    }
  }

  /** By module. */
  async #due (): Promise<Due[][]> {
    const modules = new Map<string, Due[]>()
    for (const { key, tool } of this.#options.tools.current().imported()) {
      if (tool.run.kind !== 'python') continue
      const stamp = await stampOf(tool.run)
      const wasListed = this.#options.table.current().has(key)
      const tried = this.#tried.get(key)
      if (tried?.stamp === stamp && !isDue(tried, wasListed)) continue
      const module = JSON.stringify([tool.run.root, tool.run.module])
      const due = modules.get(module) ?? []
      modules.set(module, due)
      due.push({ key, tool, stamp, wasListed, failures: tried?.stamp === stamp ? tried.failures : 0 })
    }
    return [...modules.values()]
  }

  async #try (due: readonly Due[]): Promise<void> {
    const results = await this.#options.executors.tryModule(due.map(({ tool }) => tool))
    for (const [at, { fault, doubt }] of results.entries()) {
      const one = due[at]
      if (this.#stopped || one === undefined) return
      if (doubt === 'shortage') {
        this.#tellShortage(one, fault?.reason ?? '')
        continue
      }
      this.#shortages.delete(one.key)
      if (doubt === 'network') this.#options.logger.info({ tool: one.tool.name, reason: fault?.reason }, 'a tool could not be tried, since a try has no network; its calls have it')
      // A module that was given up isn't known to be broken: its calls may wait for it longer, or have the network that it lacked.
      const found = doubt === undefined ? fault : undefined
      this.#tried.set(one.key, { stamp: one.stamp, at: performance.now(), failures: found === undefined ? 0 : one.failures + 1 })
      if (doubt === undefined) await this.#tell(one, found)
    }
  }

  #tellShortage ({ key, tool }: Due, reason: string): void {
    if (this.#shortages.get(key) === reason) return
    this.#shortages.set(key, reason)
    this.#options.logger.warn({ tool: tool.name, reason }, 'a tool could not be tried; it is tried again')
  }

  async #tell ({ key, tool, wasListed, failures }: Due, fault: SharedImportFault | undefined): Promise<void> {
    const { table, logger } = this.#options
    if (fault === undefined) {
      if (wasListed) await table.withdraw(key)
      return
    }
    if (wasListed && failures > 0) return await table.confirm(key, fault)
    reportFindings([importFinding({ tool, ...fault })], logger)
    await table.report(key, fault)
  }
}

function isDue ({ at, failures }: Tried, isListed: boolean): boolean {
  if (failures === 0) return isListed
  return performance.now() - at > (isListed ? Math.min(lookMs * 2 ** failures, longestPauseMs) : againMs)
}

/** A module is a file, or a package. */
async function stampOf ({ root, module }: PythonRun): Promise<string> {
  const path = join(root, ...module.split('.'))
  const states = await Promise.all([`${path}.py`, join(path, '__init__.py')].map(async file => {
    const state = await stat(file, { bigint: true }).catch(() => undefined)
    return state === undefined ? '' : `${state.ino} ${state.size} ${state.ctimeNs}`
  }))
  return states.join()
}
