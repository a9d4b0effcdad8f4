import { ErrorBody, HttpError, ToolOverview, ToolResponse, type ToolFinding, type ToolSummary } from '@toolyard/contract'
import { heldPermissions, hostsReached, type Finding, type Tool } from '@toolyard/manifests'
import { Type } from '@toolyard/contract/type'
import { principalOf, type Principal } from '../access/principal.ts'
import type { JobTypes } from '../catalog/job-types.ts'
import type { ToolCatalog } from '../catalog/tool-catalog.ts'
import { abandoned } from '../plugins/abandoned.ts'
import type { App } from '../plugins/typed-app.ts'

const mostFindings = 500

/** The tools for people: where they come from, what they may do, what is wrong with their manifests. */
export async function registryRoutes (app: App, catalog: ToolCatalog, jobTypes: JobTypes): Promise<void> {
  app.get('/registry', { schema: { response: { 200: ToolOverview, '4xx': ErrorBody } } }, async (request, reply) => {
    const principal = principalOf(request)
    return await catalog.inTurn(principal, abandoned(reply.raw), () => {
      const seen = catalog.registry.all().filter(({ tool }) => jobTypes.maySee(tool, principal))
      const tools = seen.map(({ tool }) => summaryOf(tool, principal))
      const findings = seesFiles(principal) ? catalog.registry.findings.slice(0, mostFindings).map(findingOf) : []
      return { ok: true as const, tools, count: tools.length, findings }
    })
  })

  app.get('/registry/:name', {
    schema: { params: Type.Object({ name: Type.String() }), response: { 200: ToolResponse, '4xx': ErrorBody } }
  }, async request => {
    const principal = principalOf(request)
    const tool = catalog.registry.get(request.params.name)?.tool
    if (tool === undefined || !jobTypes.maySee(tool, principal)) throw new HttpError('NOT_FOUND', 'Tool not found')
    const { timeoutSec, maxAttempts } = jobTypes.limitsOf(tool, {})
    const explanation = seesFiles(principal) ? catalog.registry.explain(tool.name) : undefined
    return {
      ok: true as const,
      tool: {
        ...summaryOf(tool, principal),
        hosts: seesFiles(principal) ? [...hostsReached(tool, jobTypes.deployment.permissions.defaults)] : null,
        parameters: tool.parameters,
        timeout_sec: timeoutSec,
        max_attempts: maxAttempts,
        idempotent: jobTypes.view(tool).idempotent ?? tool.idempotent,
        serial: tool.serial === true,
        limits: { ...tool.limits },
        steps: explanation?.steps.map(({ file, did, because }) => ({ file, did, because: because ?? null })) ?? [],
        findings: explanation?.findings.map(findingOf) ?? []
      }
    }
  })

  function summaryOf (tool: Tool, principal: Principal): ToolSummary {
    const { name, jobType, description, namespace, source, run, unavailable, audit } = tool
    return {
      name,
      type: jobType,
      description,
      ...(namespace !== undefined && { namespace }),
      format: source.format,
      runs: run.kind,
      enabled: jobTypes.view(tool).enabled,
      ...(audit !== undefined && { audit }),
      unavailable: unavailable ?? null,
      permissions: [...heldPermissions(tool, jobTypes.deployment.permissions)],
      file: seesFiles(principal) ? source.file : null
    }
  }
}

/** Where manifests are on the machine, what is in those that are refused, and hosts inside, are for operators. */
function seesFiles ({ role, tenant }: Principal): boolean {
  return role === 'admin' && tenant === undefined
}

function findingOf ({ severity, file, line, column, tool, rule, message, fix }: Finding): ToolFinding {
  return { severity, file, line: line ?? null, column: column ?? null, tool: tool ?? null, rule, message, fix: fix ?? null }
}
