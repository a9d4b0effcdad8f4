import { createHash } from 'node:crypto'
import type { ToolList } from '@toolyard/contract'
import { toolSpec, type Registry } from '@toolyard/manifests'

/** The published tools, serialized once for each version of the registry. */
export class ToolCatalog {
  #registry: Registry
  #published: { body: string, etag: string }

  constructor (registry: Registry) {
    this.#registry = registry
    this.#published = publish(registry)
  }

  get registry (): Registry {
    return this.#registry
  }

  /** The body of `GET /v1/agent-tools` (R4 to R6) and its entity tag. */
  get published (): { body: string, etag: string } {
    return this.#published
  }

  /** Puts another registry in place at once; requests that run keep theirs. */
  replace (registry: Registry): void {
    this.#registry = registry
    this.#published = publish(registry)
  }
}

function publish (registry: Registry): { body: string, etag: string } {
  const tools = registry.published().map(({ tool }) => toolSpec(tool))
  const list: ToolList = { ok: true, tools, count: tools.length }
  const body = JSON.stringify(list)
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` }
}
