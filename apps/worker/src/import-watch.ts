import type { Executors } from '@toolyard/executors'
import type { ImportedTool, RegistrySource } from '@toolyard/manifests'
import { RedisUnavailableError, type ImportFaultTable, type SharedImportFault } from '@toolyard/queue'
import type { Logger } from '@toolyard/runtime'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface ImportWatchOptions {
  tools: RegistrySource
  executors: Executors
  table: ImportFaultTable
  logger: Logger
}

/** Between two looks at what is known to be broken, and at sources, in milliseconds. */
const lookMs = 2_000

/**
 * Imports the modules of Python tools when the worker starts, and again when one has changed, so that a tool that can't
 * be loaded is known before it is called, and isn't published (P29, X16). What is broken is tried again and again: what a
 * module imports may be mended or installed.
 */
export class ImportWatch {
  readonly #options: ImportWatchOptions
  /** How the source of each declaration looked when it was imported last. */
  readonly #tried = new Map<string, string>()
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
    for (const imported of this.#options.tools.current().imported()) {
      if (this.#stopped) return
      try {
        await this.#lookAt(imported)
      } catch (error) {
        // The table is told at the next look.
        if (!(error instanceof RedisUnavailableError)) throw error
        this.#tried.delete(imported.key)
      }
    }
  }

  async #lookAt ({ key, tool }: ImportedTool): Promise<void> {
    const { table, executors, logger } = this.#options
    const stamp = await stampOf(tool)
    const isNew = this.#tried.get(key) !== stamp
    const isListed = table.current().has(key)
    if (!isNew && !isListed) return
    const { fault, passing = false } = await executors.tryImport(tool)
    if (this.#stopped || passing) return
    this.#tried.set(key, stamp)
    if (fault === undefined) {
      if (isListed) await table.withdraw(key)
      return
    }
    const { what, reason } = fault satisfies SharedImportFault
    if (!isNew) return await table.confirm(key, { what, reason })
    logger.error({ tool: tool.name, file: tool.source.file, what, reason }, `tool '${tool.name}' can't be loaded: ${reason}`)
    await table.report(key, { what, reason })
  }
}

/** A module is a file, or a package. */
async function stampOf ({ run }: ImportedTool['tool']): Promise<string> {
  if (run.kind !== 'python') return ''
  const path = join(run.root, ...run.module.split('.'))
  const states = await Promise.all([`${path}.py`, join(path, '__init__.py')].map(async file => {
    const state = await stat(file, { bigint: true }).catch(() => undefined)
    return state === undefined ? '' : `${state.ino} ${state.size} ${state.mtimeNs}`
  }))
  return states.join()
}
