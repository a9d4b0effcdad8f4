import { createHash } from 'node:crypto'
import { HttpError, permissions, type JobAccess, type SkillList, type ToolFormat } from '@toolyard/contract'
import { isPublishableName } from '@toolyard/contract/terms'
import { admitTool, createPause, isIdempotent, keyRefusal, providerTools, skillsNamespace, skillsPrompt, type RegisteredTool, type Registry, type ServiceAction, type Skill, type SkillOptions, type Tool } from '@toolyard/manifests'
import { LoopTurns, TurnMissedError } from '@toolyard/runtime'
import { ownerOfKey } from '../access/principal.ts'
import { deferredTools, type DeferredList } from './deferred-list.ts'
import type { JobTypes } from './job-types.ts'
import { ToolSearch } from './search/tool-search.ts'

/** A body that is served as it is, and its entity tag. */
export interface Published {
  body: string
  etag: string
}

/** One version of the registry for keys with certain permissions. */
export interface Publication {
  /** The tools in the shape of a provider's API; with `strict` in the form of strict mode where their schemas allow it. */
  specs: (format: ToolFormat, strict: boolean) => Promise<Published>
  /** The same, with all but a few tools deferred. */
  deferred: (list: DeferredList) => Promise<Published>
  tools: readonly Tool[]
  skills: SkillList
  /** The same with their files: those of the namespaces of the key. */
  visibleSkills: readonly Skill[]
  /** The tools themselves, in the order in which they are listed. */
  visible: readonly Tool[]
  /** Prompts and resources, for clients of MCP. */
  prompts: readonly Tool[]
  resources: readonly Tool[]
  names: readonly string[]
  count: number
  /** The service answers these of the tools by itself. */
  services: ReadonlySet<ServiceAction>
  /** Names of the tools whose outputs are texts and files of skills. */
  skillReaders: ReadonlySet<string>
  search: ToolSearch
}

/** For a model whose answer is still to come: how it gets it. */
export function comeBackHint ({ services }: Publication): string {
  return services.has('job_result') ? '; call job_result with this job_id to come back for its answer' : ''
}

/** Undefined: all. */
export type KeyBounds = Omit<JobAccess, 'queues'>

/** Keys may have many different bounds; what each sees is made anew when it was forgotten. */
const mostPublications = 64

interface CatalogOptions {
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
  readonly #turns = new LoopTurns()

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

  /** For a key with these bounds, as served now: tools that hold no permissions beyond them, of its namespaces. */
  publication (key: KeyBounds): Publication {
    const { permissions: held, namespaces, hosts, tenant } = key
    const allowed = permissions.filter(each => held === undefined || held.includes(each))
    const ofTenant = tenant === undefined ? undefined : this.#jobTypes.deployment.permissions.egressOf?.(tenant)
    const bounds = JSON.stringify([allowed, ...[namespaces, hosts, ofTenant].map(bound => bound === undefined ? null : [...bound].sort())])
    const known = this.#publications.get(bounds)
    const publication = known ?? publish(visibleSkills(this.#registry, key), this.#visibleTools(key), this.#options)
    // The one that was asked for last is the last to go.
    this.#publications.delete(bounds)
    this.#publications.set(bounds, publication)
    for (const oldest of this.#publications.keys()) if (this.#publications.size > mostPublications) this.#publications.delete(oldest)
    return publication
  }

  /**
   * Makes an answer of many tools for one request. There is one at a time, and owners take turns: of 60 that came at once, each took
   * its part of the same turn of the event loop.
   *
   * @throws HttpError `UNAVAILABLE` when nobody waits for it any more; what the work throws.
   */
  async inTurn<T> (
    principal: { tenant: string | undefined, name: string } | null, signal: AbortSignal, work: () => T | Promise<T>
  ): Promise<T> {
    const owner = principal === null ? '' : ownerOfKey(principal)
    try {
      return await this.#turns.run(owner, 1, work, signal)
    } catch (error) {
      throw error instanceof TurnMissedError ? new HttpError('UNAVAILABLE', 'Nobody waits for this answer any more') : error
    }
  }

  /** One tool of each job type, in the order of the registry; also those that are disabled. */
  jobTypes (): readonly RegisteredTool[] {
    return this.#registry.jobTypes()
  }

  /** Whether a key may have the tool of a job run again; one that is gone needs nothing. */
  mayRun (name: string, key: KeyBounds): boolean {
    const registered = this.#registry.get(name)
    return registered === undefined || keyRefusal(registered.tool, key, this.#jobTypes.deployment) === undefined
  }

  /** Whether a run of a job type that was lost may be begun anew. What isn't known here is for a worker to say, which may know it. */
  mayRepeat (type: string): boolean {
    const known = this.#registry.jobTypes().find(({ tool }) => tool.jobType === type)
    return known === undefined || isIdempotent(known.tool, this.#jobTypes.deployment)
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
  #visibleTools ({ permissions: held, namespaces, hosts, tenant }: KeyBounds): Tool[] {
    const key = { permissions: held, namespaces, hosts, tenant }
    return this.#registry.all().filter(registered => (
      isPublishableName(registered.tool.name) && admitTool({ registered, key, isDirect: true }, this.#jobTypes.deployment).kind === 'admitted'
    )).map(({ tool }) => tool)
  }
}

/** A skill is of the namespace of its own tools, and of that of the tools which read and run all skills. */
function visibleSkills (registry: Registry, { namespaces }: KeyBounds): readonly Skill[] {
  const skills = registry.skills()
  if (namespaces === undefined || namespaces.includes(skillsNamespace)) return skills
  return skills.filter(({ name }) => namespaces.includes(name))
}

function publish (skills: readonly Skill[], all: readonly Tool[], { contextMode, listMax }: CatalogOptions): Publication {
  const callable = all.filter(({ publishAs }) => publishAs === undefined)
  const found = callable.filter(tool => !isOfCatalogue(tool))
  // A model that sees all tools at once needs no search.
  const tools = found.length > listMax ? callable : found
  const bodies = new Map<string, Promise<Published>>()
  return {
    count: tools.length,
    visible: tools,
    prompts: all.filter(({ publishAs }) => publishAs?.kind === 'prompt'),
    resources: all.filter(({ publishAs }) => publishAs?.kind === 'resource'),
    services: new Set(tools.flatMap(({ run }) => run.kind === 'service' ? [run.action] : [])),
    skillReaders: new Set(tools.filter(({ run }) => run.kind === 'read-skill').map(({ name }) => name)),
    search: new ToolSearch(found),
    names: callable.map(({ name }) => name),
    tools,
    specs: async (format, strict) => {
      const key = `${format} ${strict}`
      const known = bodies.get(key) ?? published(tools, providerTools(format, strict), format)
      bodies.set(key, known)
      return await known
    },
    deferred: async list => {
      // Who sees few tools has no need of finders in a whole list; here they are what finds the rest.
      const texts = await deferredTools(callable, list)
      return bodyOf(texts, list.format, callable)
    },
    visibleSkills: skills,
    skills: {
      ok: true,
      skills: skills.map(listedSkill),
      count: skills.length,
      prompt: skillsPrompt(skills, contextMode)
    }
  }
}

function listedSkill ({ name, description, tools, audit, frontMatter }: Skill): SkillList['skills'][number] {
  const { capability_tier: tier, variant_of: variant } = frontMatter
  return {
    name,
    description,
    tools: tools.map(tool => tool.name),
    ...audit !== undefined && { audit },
    ...typeof tier === 'string' && { capability_tier: tier },
    ...typeof variant === 'string' && { variant_of: variant }
  }
}

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
  return bodyOf(specs, format, tools)
}

function bodyOf (specs: readonly string[], format: ToolFormat, tools: readonly Tool[]): Published {
  // Gemini takes all functions in one tool.
  const list = format === 'gemini' && specs.length > 0 ? `{"functionDeclarations":[${specs.join()}]}` : specs.join()
  const audits = tools.flatMap(({ name, audit }) => audit === undefined ? [] : [[name, audit] as const])
  const audit = audits.length === 0 ? '' : `,"audit":${JSON.stringify(Object.fromEntries(audits))}`
  const body = `{"ok":true,"tools":[${list}],"count":${tools.length}${audit}}`
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` }
}
