import { mcpDigest } from '@toolyard/contract/mcp-digest'
import type { McpTool } from '@toolyard/contract/terms'
import { asError, freeName, isPublishableName, limits as bounds, withoutUndefined } from '@toolyard/contract/terms'
import type { Remark } from '../../finding/finding-list.ts'
import { isDeeperThan } from '../../document/depth.ts'
import { goQuote } from '../../finding/go-quote.ts'
import type { LayerEntry } from '../../layer/layer.ts'
import type { Schemas } from '../../schema/schemas.ts'
import { jobTypeOf } from '../../tool/job-type.ts'
import { manifestLimits } from '../../tool/limits.ts'
import type { JsonSchema, McpServer, Tool } from '../../tool/tool.ts'
import { safeName } from '../openapi/names.ts'
import { defaultFaults } from '../../schema/defaults.ts'
import { commonForm } from '../../schema/form/common-form.ts'
import { subschemasOf, withAllSubschemas } from '../../schema/form/subschemas.ts'
import type { OpenLock } from './lock.ts'
import { nameFilter } from './name-filter.ts'

/** The entry's part for all tools of its server. */
interface Common extends Pick<Tool, 'enabled' | 'idempotent' | 'timeoutSec' | 'policy' | 'asks'> {
  override: boolean
}

export async function acceptedTools (
  server: McpServer, { schemas, lock, common }: { schemas: Schemas, lock: OpenLock, common: Common }
): Promise<{ entries: LayerEntry[], findings: Remark[] }> {
  const accept = `Run toolyard accept ${JSON.stringify(server.source.file)}, and look at what it shows.`
  let tools: readonly McpTool[] | undefined
  try {
    tools = (await lock.accepted()).get(server.name)
  } catch (error) {
    const finding: Remark = { severity: 'error', rule: 'mcp/accepted', message: `${server.lock} ${asError(error).message}, so that no tool of the server is published`, fix: accept }
    return { entries: [], findings: [finding] }
  }
  if (tools === undefined) {
    if (server.off === true) return { entries: [], findings: [] }
    return { entries: [], findings: [{ severity: 'warning', nonconforming: true, rule: 'mcp/accepted', message: 'no tool of this MCP server was accepted, so that none is published', fix: accept }] }
  }
  const lets = nameFilter(server.filter)
  const names = publishedNames(server.prefix, tools)
  const entries: LayerEntry[] = []
  const findings: Remark[] = []
  for (const tool of tools.filter(({ name }) => lets(name))) {
    const parameters = withoutEmptyEnums(commonForm(tool.inputSchema))
    const [fault] = await schemas.check(parameters)
    if (fault === undefined) {
      const name = names.get(tool.name) ?? `${server.prefix}${tool.name}`
      const outputSchema = await checkable(tool.outputSchema, schemas)
      entries.push({ kind: 'tool', tool: toolOf(tool, { server, name }, common, { parameters, outputSchema }), override: common.override })
      findings.push(...defaultNotes(tool))
    } else findings.push({ severity: 'error', rule: 'A6', message: `schema of its tool ${goQuote(tool.name)} ${fault.message}`, fix: 'Leave the tool out ("tools": ["!NAME"]), or have its server mended.' })
  }
  return { entries, findings }
}

/**
 * An `enum` without values says that no value fits. Servers write it where they had none to name, and the value is theirs to judge: as
 * it is written, Toolyard would refuse the tool and models' providers each request that has it.
 */
function withoutEmptyEnums (schema: JsonSchema): JsonSchema {
  const isEmpty = ({ enum: values }: JsonSchema): boolean => Array.isArray(values) && values.length === 0
  if (isDeeperThan(manifestLimits.depth, schema) || !subschemasOf(schema).some(({ node }) => isEmpty(node))) return schema
  return withAllSubschemas(schema, node => {
    const { enum: _, ...rest } = node
    return isEmpty(node) ? rest : node
  })
}

function defaultNotes ({ name, inputSchema }: McpTool): Remark[] {
  return defaultFaults(inputSchema).map(({ message, fix }) => (
    { severity: 'note', rule: 'A6', message: `schema of its tool ${goQuote(name)}: ${message}`, fix }
  ))
}

/** A schema of outputs that they can be held to. */
async function checkable (written: McpTool['outputSchema'], schemas: Schemas): Promise<JsonSchema | undefined> {
  const schema = commonForm(written)
  if (schema?.['type'] !== 'object') return undefined
  return (await schemas.check(schema)).length === 0 ? schema : undefined
}

/** Names that models take stay as they are; others become such names, the same ones whatever the order of the list. */
function publishedNames (prefix: string, tools: readonly McpTool[]): ReadonlyMap<string, string> {
  const whole = (name: string): string => `${prefix}${name}`
  const fits = (name: string): boolean => isPublishableName(whole(name))
  const names = tools.map(({ name }) => name)
  const taken = new Set(names.filter(fits).map(whole))
  const sorted = [...names].sort((a, b) => a < b ? -1 : 1)
  return new Map(sorted.map(name => [name, fits(name) ? whole(name) : freeName(safeName(whole(name)), taken)]))
}

function toolOf (
  accepted: McpTool, { server, name }: { server: McpServer, name: string }, { override: _, timeoutSec, ...common }: Common,
  { parameters, outputSchema }: { parameters: JsonSchema, outputSchema: JsonSchema | undefined }
): Tool {
  const { permissions, network, unixSockets, limits } = server
  return {
    ...common,
    name,
    description: accepted.description ?? accepted.title ?? '',
    parameters,
    jobType: jobTypeOf('mcp', name),
    ...timeoutSec !== undefined && { timeoutSec: Math.min(timeoutSec, bounds.toolTimeoutSec.max) },
    ...withoutUndefined({ permissions, network, unixSockets, limits }),
    source: server.source,
    namespace: server.name,
    run: {
      kind: 'mcp',
      server,
      remote: accepted.name,
      digest: mcpDigest(accepted),
      ...withoutUndefined({ title: accepted.title, outputSchema, annotations: accepted.annotations })
    }
  }
}
