import { setTimeout as delay } from 'node:timers/promises'
import type { RegisteredTool, Registry, RegistrySource } from '@toolyard/manifests'
import type { TakenJob } from '@toolyard/queue'
import { createdAt, inventoryOf, type ToolInventories, type ToolInventory } from '@toolyard/store'

/** Between two looks at the manifests for which jobs ask, in milliseconds. */
const lookMs = 250
/** Two processes know Redis' time so well at least, in milliseconds. */
const clockErrorMs = 100

/** This worker's own version of a job's tool, or another worker's turn. */
type Located = { registered: RegisteredTool | undefined, differs: boolean } | 'elsewhere'

/**
 * Finds the tool of a job in the version that the job was made for. API and workers don't read their manifests at the
 * same moment, and differ for longer while a new version is rolled out.
 */
export class ToolVersions {
  readonly #source: RegistrySource
  readonly #inventories: ToolInventories
  #inventory: ToolInventory
  #of: Registry
  #lookedAt = 0
  /** The end of the last look's pause, by the process's monotonic clock. */
  #pauseUntil = 0
  #looking: Promise<void> | undefined

  constructor (source: RegistrySource, inventories: ToolInventories) {
    this.#source = source
    this.#inventories = inventories
    this.#of = source.current()
    this.#inventory = inventoryIn(this.#of)
  }

  get inventory (): ToolInventory {
    const now = this.#source.current()
    if (now !== this.#of) {
      this.#of = now
      this.#inventory = inventoryIn(now)
    }
    return this.#inventory
  }

  /**
   * Looks where the job's tool is: here, or else here once the manifests are read again, or else at another worker of
   * the queue. When no worker has the job's version, this one's is as good as any.
   *
   * @throws RedisUnavailableError
   */
  async locate ({ id, data: { tool, version }, queue }: TakenJob): Promise<Located> {
    const found = this.#source.current().get(tool)
    if (version === undefined || found?.version === version) return { registered: found, differs: false }
    await this.#look(createdAt(id))
    const registered = this.#source.current().get(tool)
    if (registered?.version === version) return { registered, differs: false }
    return await this.#inventories.hasElsewhere({ tool, version, queue }, this.inventory.id) ? 'elsewhere' : { registered, differs: true }
  }

  /** A job that was made before the last look was made with manifests that were there then. */
  async #look (madeAt: number): Promise<void> {
    await this.#looking
    if (this.#lookedAt > madeAt + clockErrorMs) return
    this.#looking ??= this.#reload().finally(() => { this.#looking = undefined })
    await this.#looking
  }

  async #reload (): Promise<void> {
    await delay(Math.max(0, this.#pauseUntil - performance.now()))
    this.#pauseUntil = performance.now() + lookMs
    this.#lookedAt = this.#inventories.now()
    await this.#source.reload()
  }
}

function inventoryIn (registry: Registry): ToolInventory {
  return inventoryOf(new Map(registry.all().map(({ tool, version }) => [tool.name, version])))
}
