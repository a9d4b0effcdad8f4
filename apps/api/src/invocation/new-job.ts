import { permissions as everyPermission, type JobAccess, type JobDependency } from '@toolyard/contract'
import { makesJobs, programDigest, type AskedCall, type HoldTerms, type RegisteredTool } from '@toolyard/manifests'
import { heldJob, type NewJob } from '@toolyard/queue'
import type { JobTypes } from '../catalog/job-types.ts'
import type { Principal } from '../access/principal.ts'

export interface JobParts {
  /** From `JobQueues.newId`. */
  id: string
  /** Checked, with defaults filled in. */
  arguments: Record<string, unknown>
  principal: Principal
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

export function newJob ({ tool, version }: RegisteredTool, parts: JobParts): NewJob {
  const { timeoutSec, maxAttempts } = parts.jobTypes.limitsOf(tool, { timeoutSec: parts.timeoutSec, maxAttempts: parts.maxAttempts })
  return {
    id: parts.id,
    type: tool.jobType,
    data: {
      tool: tool.name,
      version,
      arguments: parts.arguments,
      timeoutSec,
      tags: parts.tags,
      keyName: parts.principal.name,
      ...(parts.principal.tenant === undefined ? {} : { tenant: parts.principal.tenant }),
      ...(parts.session === undefined ? {} : { session: parts.session }),
      ...(parts.conversation === undefined ? {} : { conversation: parts.conversation }),
      ...(tool.serial === true ? { serial: true as const } : {}),
      ...(parts.principal.permissions === undefined ? {} : { keyPermissions: [...parts.principal.permissions] }),
      ...(parts.callbackUrl === undefined ? {} : { callbackUrl: parts.callbackUrl }),
      ...(parts.dependsOn === undefined || parts.dependsOn.length === 0 ? {} : { dependsOn: parts.dependsOn }),
      ...(makesJobs(tool) ? { access: accessOf(parts.principal), keyPart: parts.keyPart } : {}),
      ...(parts.replyTo === undefined ? {} : { replyTo: parts.replyTo })
    },
    maxAttempts,
    ...(parts.priority === undefined ? {} : { priority: parts.priority }),
    ...(parts.delayMs === undefined ? {} : { delayMs: parts.delayMs })
  }
}

/** What a key may use. The jobs that a workflow makes are made without the key, and may do no more than it. */
export function accessOf ({ queueAllowlist, permissions, namespaces }: Principal): JobAccess {
  return { queues: queueAllowlist, permissions, ...namespaces !== undefined && { namespaces } }
}

/**
 * The same job, which runs once it is approved.
 *
 * @param key see `KeyRing.partOf`
 */
export async function jobToHold (job: NewJob, terms: HoldTerms, { tool, entry }: RegisteredTool, key: string): Promise<NewJob> {
  return heldJob(job, terms, { entry, program: await programDigest(tool, job.data.arguments), key })
}

/** What rules are asked about. */
export function askerOf ({ name, role, permissions = everyPermission, tenant = '' }: Principal, session = '', conversation = ''): NonNullable<AskedCall['asks']> {
  return { key: { name, role, permissions }, tenant, session, conversation }
}
