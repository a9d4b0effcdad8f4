import { defaultTimeoutSec, jobLimits, withoutUndefined, type JobAccess, type LimitSources, type JobTypeView } from '@toolyard/contract'
import { isEnabled, keyRefusal, type Deployment, type Tool } from '@toolyard/manifests'
import type { JobTypeTable } from '@toolyard/store'

export interface JobTypeDefaults extends Deployment {
  /** Execution timeout of tools that set none, in seconds. */
  toolTimeoutSec: number
  jobTypes: Pick<JobTypeTable, 'get'>
}

/** For one job; undefined is as its type has it. */
export interface Asked {
  timeoutSec?: number | undefined
  maxAttempts?: number | undefined
}

/** The record behind a tool: what the registry says, under what was switched. */
export class JobTypes {
  readonly deployment: JobTypeDefaults

  constructor (deployment: JobTypeDefaults) {
    this.deployment = deployment
  }

  limitsOf (tool: Tool, asked: Asked): { timeoutSec: number, maxAttempts: number } {
    return jobLimits({ asked, ...this.#sources(tool) })
  }

  /** A tool beyond a key's permissions, namespaces or hosts isn't there for it. */
  maySee (tool: Tool, key: JobAccess): boolean {
    const ofTenant = key.tenant === undefined ? undefined : this.deployment.permissions.egressOf?.(key.tenant)
    const isUnbound = [key.permissions, key.namespaces, key.hosts, ofTenant].every(bound => bound === undefined)
    return isUnbound || keyRefusal(tool, key, this.deployment) === undefined
  }

  view (tool: Tool): JobTypeView {
    const { maxAttempts } = this.limitsOf(tool, {})
    const { idempotent, warm = tool.warm } = this.deployment.jobTypes.get(tool.jobType)
    return {
      name: tool.jobType,
      enabled: isEnabled(tool, this.deployment),
      handler: tool.source.format === 'builtin' ? `builtin:${tool.jobType}` : `builtin:manifest.${tool.source.format}`,
      default_timeout_sec: defaultTimeoutSec(this.#sources(tool)),
      default_max_attempts: maxAttempts,
      ...withoutUndefined({ warm, idempotent })
    }
  }

  #sources (tool: Tool): Omit<LimitSources, 'asked'> {
    return {
      override: this.deployment.jobTypes.get(tool.jobType),
      tool,
      toolTimeoutSec: this.deployment.toolTimeoutSec
    }
  }
}
