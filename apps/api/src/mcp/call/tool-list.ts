import type { Permission, PermissionPolicy } from '@toolyard/contract'
import { heldPermissions, makesJobs, outputSchemaOf, toolOfCall, wellFormed, withObjectProperties, type JsonSchema, type Tool } from '@toolyard/manifests'
import type { JobTypeDefaults, JobTypes } from '../../catalog/job-types.ts'
import type { KeyBounds, Publication, ToolCatalog } from '../../catalog/tool-catalog.ts'
import { pageOf } from '../../catalog/page.ts'

export interface ListedTool {
  name: string
  /** Of a tool of an MCP server that has one: other tools are known by their names. */
  title?: string
  description: string
  inputSchema: { type: 'object' } & JsonSchema
  outputSchema?: { type: 'object' } & JsonSchema
  annotations: ToolHints
}

/** For clients; by the tool's permissions, which the sandbox enforces. */
interface ToolHints {
  readOnlyHint: boolean
  destructiveHint: boolean
  idempotentHint: boolean
  openWorldHint: boolean
}

export interface ToolList {
  tools: readonly ListedTool[]
  byName: ReadonlyMap<string, ListedTool>
}

/** A tool with a timeout up to this, in seconds, is always waited for. */
const quickSec = 10

/** Makes the list once for each publication. */
export class ToolLists {
  readonly #catalog: ToolCatalog
  readonly #jobTypes: JobTypes
  readonly #lists = new WeakMap<Publication, ToolList>()

  constructor (catalog: ToolCatalog, jobTypes: JobTypes) {
    this.#catalog = catalog
    this.#jobTypes = jobTypes
  }

  for (key: KeyBounds): ToolList {
    return this.#of(this.#catalog.publication(key))
  }

  /** @throws HttpError `VALIDATION_ERROR` for a cursor that is none. */
  page (key: KeyBounds, cursor: string | undefined): { tools: ListedTool[], nextCursor?: string } {
    const { page: tools, ...rest } = pageOf(this.for(key).tools, { cursor, size: this.#catalog.listMax, nameOf: ({ name }) => name })
    return { tools, ...rest }
  }

  /** The publication to a key with these bounds, whatever protocol it is listed in. */
  publication (key: KeyBounds): Publication {
    return this.#catalog.publication(key)
  }

  /** Whether a call of a tool may run so long that its client had better not wait for it. */
  takesLong (name: string): boolean {
    const registered = this.#catalog.registry.get(name)
    return registered !== undefined && registered.tool.run.kind !== 'service' && this.#jobTypes.limitsOf(
      registered.tool, { timeoutSec: undefined, maxAttempts: undefined }
    ).timeoutSec > quickSec
  }

  /** Whether the service answers a tool by itself, which may ask for the jobs of others. */
  isService (name: string): boolean {
    return this.#catalog.registry.get(name)?.tool.run.kind === 'service'
  }

  #of (publication: Publication): ToolList {
    const known = this.#lists.get(publication)
    if (known !== undefined) return known
    const tools = publication.visible.map(tool => listed(tool, this.#jobTypes.deployment))
    const list = { tools, byName: new Map(tools.map(tool => [tool.name, tool])) }
    this.#lists.set(publication, list)
    return list
  }
}

function listed (tool: Tool, { permissions, jobTypes }: JobTypeDefaults): ListedTool {
  const outputSchema = outputSchemaOf(tool)
  const idempotent = jobTypes.get(tool.jobType).idempotent ?? tool.idempotent
  return wellFormed({
    name: tool.name,
    ...(tool.run.kind === 'mcp' && tool.run.title !== undefined ? { title: tool.run.title } : {}),
    description: tool.description,
    inputSchema: objectSchema(tool.parameters),
    ...(outputSchema === undefined ? {} : { outputSchema: objectSchema(outputSchema) }),
    annotations: hintsOf(tool, permissions, idempotent)
  })
}

/** A tool that calls others does whatever they do, and `skill_run` what any of its skills may. */
function hintsOf (tool: Tool, policy: PermissionPolicy, idempotent: boolean): ToolHints {
  const called = tool.run.kind === 'skill-run' ? Object.keys(tool.run.skills).map(skill => toolOfCall(tool, { skill })) : [tool]
  const held = new Set(called.flatMap(each => heldPermissions(each, policy)))
  const calls = makesJobs(tool) || (tool.run.kind === 'service' && tool.run.action === 'call_tool')
  const may = (permission: Permission): boolean => calls || held.has(permission)
  const cancels = tool.run.kind === 'service' && tool.run.action === 'job_cancel'
  const readOnly = !may('write_files') && !may('network') && !cancels
  return { readOnlyHint: readOnly, destructiveHint: !readOnly, idempotentHint: idempotent, openWorldHint: may('network') }
}

/**
 * MCP wants the type said; arguments are an object in any case. Its clients want objects as properties, and the field itself:
 * without it OpenAI refuses a request, and n8n asks for an argument that isn't there.
 */
function objectSchema (schema: JsonSchema): ListedTool['inputSchema'] {
  return { ...withObjectProperties(schema), type: 'object', ...schema['properties'] === undefined && { properties: {} } }
}
