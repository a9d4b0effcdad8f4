import { permissions as everyPermission, withoutUndefined, type JobAccess, type JobData, type JobDependency } from '@toolyard/contract'
import { makesJobs, ProgramDigests, toolOfCall, type HoldTerms, type PolicyAsker, type RegisteredTool } from '@toolyard/manifests'
import { heldJob, type NewJob } from '@toolyard/queue'
import type { JobTypes } from '../catalog/job-types.ts'
import type { Principal } from '../access/principal.ts'

export interface JobTerms {
  principal: Principal
  access: JobAccess
  /** See `KeyRing.partOf`. */
  keyPart: string
  session?: string | undefined
  jobTypes: JobTypes
  tags: string[]
  /** Undefined: what the job type says. */
  timeoutSec?: number | undefined
  maxAttempts?: number | undefined
  priority?: number
  delayMs?: number
  dependsOn?: JobDependency[] | undefined
  conversation?: string | undefined
  /** The API process that will wait for the job. */
  replyTo?: string | undefined
  /** Checked. */
  callbackUrl?: string | undefined
}

/**
 * @param id from `JobQueues.newId`
 * @param args checked, with defaults filled in
 */
export function newJob ({ tool, version }: RegisteredTool, id: string, args: Record<string, unknown>, terms: JobTerms): NewJob {
  const { name: keyName, tenant, permissions, hosts } = terms.principal
  const { session, conversation, callbackUrl, dependsOn, replyTo } = terms
  const { timeoutSec, maxAttempts } = terms.jobTypes.limitsOf(toolOfCall(tool, args), terms)
  const data: JobData = { tool: tool.name, version, arguments: args, timeoutSec, tags: terms.tags, keyName }
  if (tenant !== undefined) data.tenant = tenant
  if (session !== undefined) data.session = session
  if (conversation !== undefined) data.conversation = conversation
  if (tool.serial === true) data.serial = true
  if (permissions !== undefined) data.keyPermissions = [...permissions]
  if (hosts !== undefined) data.keyHosts = [...hosts]
  if (callbackUrl !== undefined) data.callbackUrl = callbackUrl
  if (dependsOn !== undefined && dependsOn.length > 0) data.dependsOn = dependsOn
  if (makesJobs(tool)) Object.assign(data, { access: terms.access, keyPart: terms.keyPart })
  if (replyTo !== undefined) data.replyTo = replyTo
  const job: NewJob = { id, type: tool.jobType, data, maxAttempts }
  if (terms.priority !== undefined) job.priority = terms.priority
  if (terms.delayMs !== undefined) job.delayMs = terms.delayMs
  return job
}

/** A key's bounds. The jobs that a workflow makes are made without the key, and may do no more than it. */
export function accessOf ({ queueAllowlist, permissions, namespaces, hosts, tenant }: Principal): JobAccess {
  return { queues: queueAllowlist, permissions, ...withoutUndefined({ namespaces, hosts, tenant }) }
}

const programs = new ProgramDigests()

/**
 * The same job, which runs once it is approved.
 *
 * @param key see `KeyRing.partOf`
 */
export async function jobToHold (job: NewJob, terms: HoldTerms, { tool, entry }: RegisteredTool, key: string): Promise<NewJob> {
  return heldJob(job, terms, { entry, program: await programs.of(tool, job.data.arguments), key })
}

export function askerOf ({ name, role, permissions = everyPermission, tenant = '' }: Principal, session = '', conversation = ''): PolicyAsker {
  return { key: { name, role, permissions }, tenant, session, conversation }
}
