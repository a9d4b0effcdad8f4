import { checkJobTypePatch, ErrorBody, HttpError, JobTypeList, JobTypePatch, JobTypeResponse, withoutUndefined } from '@toolyard/contract'
import { keyRefusal } from '@toolyard/manifests'
import type { JobTypeOverride, JobTypeTable } from '@toolyard/store'
import { Type } from '@toolyard/contract/type'
import { abandoned } from '../../plugins/abandoned.ts'
import { bodyChecked } from '../../plugins/body/body-check.ts'
import type { App } from '../../plugins/typed-app.ts'
import type { JobTypes } from '../../catalog/job-types.ts'
import { principalOf, requireOperator } from '../../access/principal.ts'
import type { ToolCatalog } from '../../catalog/tool-catalog.ts'

/**
 * The switchable records behind the tools. A key of a tenant, one that is bound to queues, or may not call the tool, switches
 * none: what it changed would hold for all keys.
 */
export async function jobTypeRoutes (app: App, catalog: ToolCatalog, jobTypes: JobTypes, table: JobTypeTable): Promise<void> {
  app.get('/job-types', { schema: { response: { 200: JobTypeList, '4xx': ErrorBody } } }, async (request, reply) => {
    const principal = principalOf(request)
    return await catalog.inTurn(principal, abandoned(reply.raw), () => {
      const types = catalog.jobTypes().filter(({ tool }) => jobTypes.maySee(tool, principal)).map(({ tool }) => jobTypes.view(tool))
      return { ok: true as const, types, count: types.length }
    })
  })

  app.patch('/job-types/:name', {
    config: { changes: { action: 'tool.switch', fields: ['enabled', 'default_timeout_sec', 'default_max_attempts', 'idempotent'] } },
    schema: {
      params: Type.Object({ name: Type.String() }),
      body: JobTypePatch,
      response: { 200: JobTypeResponse, '4xx': ErrorBody, '5xx': ErrorBody }
    },
    validatorCompiler: bodyChecked(checkJobTypePatch)
  }, async request => {
    const registered = catalog.registry.ofType(request.params.name)
    if (registered === undefined) throw new HttpError('NOT_FOUND', 'Job type not found')
    const principal = principalOf(request)
    requireOperator(principal)
    if (principal.queueAllowlist !== undefined) throw new HttpError('FORBIDDEN', 'This API key is bound to queues; a job type is switched for all of them.')
    const refusal = jobTypes.maySee(registered.tool, principal) ? undefined : keyRefusal(registered.tool, principal, jobTypes.deployment)
    if (refusal !== undefined) throw new HttpError('FORBIDDEN', refusal.message, refusal.details)
    if (request.body.warm !== undefined && registered.tool.run.kind !== 'command') {
      throw new HttpError('VALIDATION_ERROR', "'warm' is for commands: only these get their arguments after their start")
    }
    await table.set(registered.tool.jobType, toOverride(request.body))
    return { ok: true as const, type: jobTypes.view(registered.tool) }
  })
}

function toOverride (
  { enabled, default_timeout_sec: defaultTimeoutSec, default_max_attempts: defaultMaxAttempts, idempotent, warm }: JobTypePatch
): JobTypeOverride {
  return withoutUndefined({ enabled, defaultTimeoutSec, defaultMaxAttempts, idempotent, warm })
}
