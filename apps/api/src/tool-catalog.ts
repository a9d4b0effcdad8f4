import { createHash } from 'node:crypto'
import type { SkillList, ToolList } from '@toolyard/contract'
import { skillsPrompt, strictToolSpec, toolSpec, type Registry, type SkillOptions } from '@toolyard/manifests'

/** A body that is served as it is, and its entity tag. */
export interface Published {
  body: string
  etag: string
}

/** What one version of the registry publishes. */
interface Publication {
  tools: Published
  /** Tools whose schemas allow it in the form of strict mode, the others as they are. */
  strictTools: Published
  skills: SkillList
}

/** The published tools and skills, made once for each version of the registry. */
export class ToolCatalog {
  readonly #contextMode: SkillOptions['contextMode']
  #registry: Registry
  #publication: Publication

  constructor (registry: Registry, contextMode: SkillOptions['contextMode']) {
    this.#contextMode = contextMode
    this.#registry = registry
    this.#publication = publish(registry, contextMode)
  }

  get registry (): Registry {
    return this.#registry
  }

  /** What is served now. */
  get publication (): Publication {
    return this.#publication
  }

  /** Puts another registry in place at once; requests that run keep theirs. */
  replace (registry: Registry): void {
    this.#registry = registry
    this.#publication = publish(registry, this.#contextMode)
  }
}

function publish (registry: Registry, contextMode: SkillOptions['contextMode']): Publication {
  const tools = registry.published().map(({ tool }) => tool)
  const skills = registry.skills()
  return {
    tools: published(tools.map(toolSpec)),
    strictTools: published(tools.map(tool => strictToolSpec(tool) ?? toolSpec(tool))),
    skills: {
      ok: true,
      skills: skills.map(({ name, description, tools }) => ({ name, description, tools: tools.map(tool => tool.name) })),
      count: skills.length,
      prompt: skillsPrompt(skills, contextMode)
    }
  }
}

function published (tools: ToolList['tools']): Published {
  const list: ToolList = { ok: true, tools, count: tools.length }
  const body = JSON.stringify(list)
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` }
}
