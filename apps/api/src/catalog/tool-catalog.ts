import { createHash } from 'node:crypto'
import { permissions, publishableNamePattern, type Permission, type SkillList, type ToolFormat } from '@toolyard/contract'
import { admitTool, createPause, permissionRefusal, providerTool, skillsPrompt, type RegisteredTool, type Registry, type ServiceAction, type SkillOptions, type Tool } from '@toolyard/manifests'
import type { JobTypes } from './job-types.ts'
import { ToolSearch } from './search/tool-search.ts'

const publishableName = new RegExp(publishableNamePattern)

/** A body that is served as it is, and its entity tag. */
export interface Published {
  body: string
  etag: string
}

/** What one version of the registry publishes to keys with certain permissions. */
export interface Publication {
  /** The tools in the shape of a provider's API; with `strict` in the form of strict mode where their schemas allow it. */
  specs: (format: ToolFormat, strict: boolean) => Promise<Published>
  tools: readonly Tool[]
  skills: SkillList
  /** The tools themselves, in the order in which they are listed. */
  visible: readonly Tool[]
  /** What clients of MCP see as prompts, and as resources. */
  prompts: readonly Tool[]
  resources: readonly Tool[]
  /** Names of the tools. */
  names: readonly string[]
  /** How many tools there are. */
  count: number
  /** What the service answers by itself, of the tools that are among them. */
  services: ReadonlySet<ServiceAction>
  /** Finds tools by words. */
  search: ToolSearch
}

/** What an answer that is still to come tells a model: how it gets it. */
export function comeBackHint ({ services }: Publication): string {
  return services.has('job_result') ? '; call job_result with this job_id to come back for its answer' : ''
}

export interface CatalogOptions {
  contextMode: SkillOptions['contextMode']
  /** From how many tools on a list has those that find others, and a list of MCP has pages. */
  listMax: number
}

/** The published tools and skills, made once for each version of the registry and of the job types, and set of permissions. */
export class ToolCatalog {
  readonly #jobTypes: JobTypes
  readonly #options: CatalogOptions
  #registry: Registry
  #publications = new Map<string, Publication>()
  readonly #listeners = new Set<() => void>()

  constructor (registry: Registry, jobTypes: JobTypes, options: CatalogOptions) {
    this.#jobTypes = jobTypes
    this.#options = options
    this.#registry = registry
  }

  get listMax (): number {
    return this.#options.listMax
  }

  get registry (): Registry {
    return this.#registry
  }

  /** What is served now to a key with these permissions: tools that hold none beyond them. Undefined permissions are all. */
  publication (ofKey: readonly Permission[] | undefined): Publication {
    const key = ofKey === undefined ? '*' : permissions.filter(permission => ofKey.includes(permission)).join()
    const publication = this.#publications.get(key) ?? publish(this.#registry, this.#visibleTools(ofKey), this.#options)
    this.#publications.set(key, publication)
    return publication
  }

  /** One tool of each job type, in the order of the registry; also those that are disabled. */
  jobTypes (): readonly RegisteredTool[] {
    return this.#registry.jobTypes()
  }

  /** Whether a key may have the tool of a job run again; one that is gone needs nothing. */
  mayRun (name: string, { permissions: ofKey }: { permissions: readonly Permission[] | undefined }): boolean {
    const registered = this.#registry.get(name)
    return registered === undefined || permissionRefusal(registered.tool, { permissions: ofKey }, this.#jobTypes.deployment) === undefined
  }

  /** Puts another registry in place at once; requests that run keep theirs. */
  replace (registry: Registry): void {
    this.#registry = registry
    this.refresh()
  }

  /** Publishes again: a job type was switched. */
  refresh (): void {
    this.#publications = new Map()
    for (const listener of this.#listeners) listener()
  }

  /** Tells a listener, from now on, when what is published may have changed. */
  onChange (listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** A switch may enable what its manifest disabled, so the registry's own list isn't enough. */
  #visibleTools (ofKey: readonly Permission[] | undefined): Tool[] {
    const key = { permissions: ofKey }
    return this.#registry.all().filter(registered => (
      publishableName.test(registered.tool.name) && 'registered' in admitTool({ registered, key, isDirect: true }, this.#jobTypes.deployment)
    )).map(({ tool }) => tool)
  }
}

function publish (registry: Registry, all: readonly Tool[], { contextMode, listMax }: CatalogOptions): Publication {
  const callable = all.filter(({ publishAs }) => publishAs === undefined)
  const found = callable.filter(tool => !isOfCatalogue(tool))
  // A model that sees all tools at once needs no search.
  const tools = found.length > listMax ? callable : found
  const skills = registry.skills()
  const bodies = new Map<string, Promise<Published>>()
  return {
    count: tools.length,
    visible: tools,
    prompts: all.filter(({ publishAs }) => publishAs?.kind === 'prompt'),
    resources: all.filter(({ publishAs }) => publishAs?.kind === 'resource'),
    services: new Set(tools.flatMap(({ run }) => run.kind === 'service' ? [run.action] : [])),
    search: new ToolSearch(found),
    names: callable.map(({ name }) => name),
    tools,
    specs: async (format, strict) => {
      const key = `${format} ${strict}`
      const known = bodies.get(key) ?? published(tools, tool => providerTool(tool, format, strict), format)
      bodies.set(key, known)
      return await known
    },
    skills: {
      ok: true,
      skills: skills.map(({ name, description, tools }) => ({ name, description, tools: tools.map(tool => tool.name) })),
      count: skills.length,
      prompt: skillsPrompt(skills, contextMode)
    }
  }
}

/** Whether a tool is for finding others. */
function isOfCatalogue ({ run }: Tool): boolean {
  return run.kind === 'service' && (run.action === 'search_tools' || run.action === 'call_tool')
}

/** Tools in the shape of a provider's API. Made in parts: the strict form of a tool takes some 0.03 ms. */
export async function published (tools: readonly Tool[], specOf: (tool: Tool) => object, format: ToolFormat): Promise<Published> {
  const pause = createPause()
  const specs: string[] = []
  for (const tool of tools) {
    await pause()
    specs.push(JSON.stringify(specOf(tool)))
  }
  // Gemini takes all functions in one tool.
  const list = format === 'gemini' && specs.length > 0 ? `{"functionDeclarations":[${specs.join()}]}` : specs.join()
  const body = `{"ok":true,"tools":[${list}],"count":${tools.length}}`
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` }
}
