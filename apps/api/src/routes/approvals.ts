import { ApprovalList, ApprovalResponse, around, checkDecision, DecisionRequest, ErrorBody, HttpError, isRecord, parseJobListQuery, writeJson, type ApprovalDetail, type ApprovalItem } from '@toolyard/contract'
import { Type } from '@toolyard/contract/type'
import { listJson, type Approvals, type DecidingKey, type DecisionResult, type HeldCall, type JobReader, type ListedCall } from '@toolyard/queue'
import { keyRefusal, toolOfCall } from '@toolyard/manifests'
import { jobIdPattern } from '@toolyard/store'
import type { KeyRing } from '../access/key-ring.ts'
import type { JobTypes } from '../catalog/job-types.ts'
import type { ToolCatalog } from '../catalog/tool-catalog.ts'
import { accessOf } from '../invocation/new-job.ts'
import { hasRole, principalOf, scopeOf, type Principal } from '../access/principal.ts'
import { bodyChecked } from '../plugins/body/body-check.ts'
import type { App } from '../plugins/typed-app.ts'
import { sendJson } from './jobs/found-job.ts'
import type { JobLists } from './jobs/job-lists.ts'

interface ApprovalRoutesOptions {
  approvals: Approvals
  jobs: JobReader
  lists: JobLists
  keys: KeyRing
  catalog: ToolCatalog
  jobTypes: JobTypes
}

const params = Type.Object({ id: Type.String() })

/** Held calls: who may decide sees what would run, and decides. */
export async function approvalRoutes (app: App, { approvals, jobs, lists, keys, catalog, jobTypes }: ApprovalRoutesOptions): Promise<void> {
  app.get('/approvals', {
    config: { makesWork: true, checksQuery: true }, schema: { response: { 200: ApprovalList, '4xx': ErrorBody, '5xx': ErrorBody } }
  }, async (request, reply) => {
    const query = parseJobListQuery({ ...isRecord(request.query) ? request.query : {}, status: 'held' })
    const { jobs: held, nextCursor } = await lists.list(query, request, reply)
    const items = (await jobs.listHeld(held)).map(itemOf)
    return await sendJson(reply, [
      Buffer.from('{"ok":true,"approvals":'), ...await listJson(items), Buffer.from(`,"count":${items.length},"next_cursor":${JSON.stringify(nextCursor)}}`)
    ])
  })

  app.get('/approvals/:id', { schema: { params, response: { 200: ApprovalResponse, '4xx': ErrorBody, '5xx': ErrorBody } } }, async (request, reply) => {
    const principal = principalOf(request)
    return await sendJson(reply, await detail(await found(request.params.id, principal), principal))
  })

  app.post('/approvals/:id', {
    config: { role: 'approver', changes: { action: 'approval.decide', fields: ['decision', 'reason', 'digest'] } },
    schema: { params, body: DecisionRequest, response: { 200: ApprovalResponse, '4xx': ErrorBody, '5xx': ErrorBody } },
    validatorCompiler: bodyChecked(checkDecision)
  }, async (request, reply) => {
    const principal = principalOf(request)
    const { decision, digest, reason } = request.body
    const given = reason?.trim()
    const call = await found(request.params.id, principal)
    const { queue, id } = call
    const forbidden = forbids(call, principal)
    if (forbidden !== undefined) throw new HttpError('FORBIDDEN', forbidden)
    if (decision === 'approve') await requireSameKey(call)
    const said = { key: principal.name, keyId: keys.idOf(principal), decision, reason: given === '' ? undefined : given, digest }
    const { result, record } = await approvals.decide(call, said, async key => await countsStill(call, key))
    if (result === 'missing') throw new HttpError('NOT_FOUND', 'Approval not found')
    const refusal = refusals[result]
    if (refusal !== undefined) throw new HttpError('CONFLICT', refusal, { state: record?.state, digest: record?.digest })
    request.log.info({ key: principal.name, job: id, tool: call.tool, decision, result }, 'held call is decided')
    return await sendJson(reply, await detail(await jobs.held(queue, id) ?? call, principal))
  })

  async function found (id: string, principal: Principal): Promise<HeldCall> {
    const queue = jobIdPattern.test(id) ? await jobs.queueOf(id, scopeOf(principal)) : undefined
    const call = queue === undefined ? undefined : await jobs.held(queue, id)
    if (call === undefined) throw new HttpError('NOT_FOUND', 'Approval not found')
    return call
  }

  /** Why a key may not decide about a call that it sees; undefined where it may. */
  function forbids ({ hold, keyName, tool: name, arguments: args }: HeldCall, principal: Principal): string | undefined {
    if (principal.name === keyName && !hold.self) return 'The key that submitted a call may not decide about it.'
    if (hold.by !== undefined && !hold.by.includes(principal.name)) return `Only these keys may decide about this call: ${hold.by.join(', ')}`
    // Who may not use a tool may not let it run either.
    const tool = catalog.registry.get(name)?.tool
    const called = tool === undefined ? undefined : toolOfCall(tool, isRecord(args) ? args : {})
    const refusal = called === undefined ? undefined : keyRefusal(called, accessOf(principal), jobTypes.deployment)
    return refusal?.code === 'FORBIDDEN' ? `${refusal.message}: so it may not decide about its calls` : undefined
  }

  /** What a key has decided counts while it is there, and may decide: the settings may have made less of it. */
  async function countsStill (call: HeldCall, { key, keyId }: DecidingKey): Promise<boolean> {
    const now = await keys.named(key)
    if (now === undefined || keys.idOf(now) !== keyId || !hasRole(now, 'approver') || forbids(call, now) !== undefined) return false
    return await jobs.queueOf(call.id, scopeOf(now)) !== undefined
  }

  /** A call is that of its key, and may do what that may; another key of the same name has not submitted it. */
  async function requireSameKey ({ hold, keyName }: HeldCall): Promise<void> {
    if (hold.parts.key === '' || keyName.startsWith('oauth:')) return
    const now = await keys.named(keyName)
    if (now === undefined) throw new HttpError('CONFLICT', `The key '${keyName}', which submitted the call, is not there any more: the call can only be denied, or cancelled`)
    if (keys.partOf(now) === hold.parts.key) return
    throw new HttpError('CONFLICT', [
      `The key '${keyName}' was made anew, or may do something else, since it submitted the call, or another release of Toolyard took the call in:`,
      'deny it, and let it be submitted again'
    ].join(' '))
  }

  async function detail (call: HeldCall, principal: Principal): Promise<string> {
    const { program, version, arguments: args, approval } = call
    const previous = await approvals.previous(call, scopeOf(principal))
    const shown: ApprovalDetail = around({
      ...about(call),
      arguments: args,
      version: version ?? null,
      program_sha256: program,
      previous: previous === undefined ? null : around(previous),
      approval
    })
    return `{"ok":true,"approval":${writeJson(shown)}}`
  }
}

/** For decisions that change nothing. */
const refusals: Readonly<Partial<Record<DecisionResult, string>>> = {
  decided: 'The call was decided before',
  ended: 'The call has ended',
  expired: 'The call can no longer be approved: its time is over',
  changed: 'The digest is not that of the call as it is now: look at it again'
}

function itemOf (call: ListedCall): ApprovalItem {
  return { ...about(call), arguments_preview: call.preview, approval: call.approval }
}

function about ({ id, tool, type, queue, keyName, tenant, session, conversation, parentId, submittedAt, status }: Omit<HeldCall, 'arguments' | 'program'>): Omit<ApprovalItem, 'arguments_preview' | 'approval'> {
  return {
    job_id: id,
    tool,
    type,
    queue,
    key: keyName,
    tenant: tenant ?? null,
    session: session ?? null,
    conversation: conversation ?? null,
    ...(parentId === undefined ? {} : { parent_id: parentId }),
    submitted_at: submittedAt,
    status
  }
}
