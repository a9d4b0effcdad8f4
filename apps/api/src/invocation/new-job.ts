import type { RegisteredTool } from '@toolyard/manifests'
import { newJobId, type NewJob } from '@toolyard/queue'
import type { JobTypes } from '../job-types.ts'
import type { Principal } from '../plugins/auth.ts'

/** What a job is made of, beside its tool. */
export interface JobParts {
  /** Checked, with defaults filled in. */
  arguments: Record<string, unknown>
  principal: Principal
  jobTypes: JobTypes
  tags: string[]
  /** Undefined: what the job type says. */
  timeoutSec?: number | undefined
  maxAttempts?: number | undefined
  priority?: number
  delayMs?: number
  /** The API process that will wait for the job. */
  replyTo?: string | undefined
}

/** Makes a job of a tool, with an id of its own. */
export function newJob ({ tool }: RegisteredTool, parts: JobParts): NewJob {
  const { timeoutSec, maxAttempts } = parts.jobTypes.limitsOf(tool, { timeoutSec: parts.timeoutSec, maxAttempts: parts.maxAttempts })
  return {
    id: newJobId(),
    type: tool.jobType,
    data: {
      tool: tool.name,
      arguments: parts.arguments,
      timeoutSec,
      tags: parts.tags,
      keyName: parts.principal.name,
      ...(tool.serial === true ? { serial: true as const } : {}),
      ...(parts.replyTo === undefined ? {} : { replyTo: parts.replyTo })
    },
    maxAttempts,
    ...(parts.priority === undefined ? {} : { priority: parts.priority }),
    ...(parts.delayMs === undefined ? {} : { delayMs: parts.delayMs })
  }
}
