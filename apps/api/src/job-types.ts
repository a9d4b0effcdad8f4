import { defaultTimeoutSec, jobLimits, permissionsBeyond, type LimitSources, type JobTypeView, type Permission, type PermissionPolicy } from '@toolyard/contract'
import type { Tool } from '@toolyard/manifests'
import type { JobTypeOverride } from '@toolyard/queue'

/** Which defaults stand behind job types. */
export interface JobTypeDefaults {
  /** Execution timeout of tools that set none, in seconds. */
  toolTimeoutSec: number
  permissions: PermissionPolicy
  /** What was switched of a type. */
  overrideOf: (type: string) => JobTypeOverride
}

/** What one job may ask for; undefined is what its type says. */
export interface Asked {
  timeoutSec: number | undefined
  maxAttempts: number | undefined
}

/** The record behind a tool: what the registry says, under what was switched (RC29, RC30). */
export class JobTypes {
  readonly #defaults: JobTypeDefaults

  constructor (defaults: JobTypeDefaults) {
    this.#defaults = defaults
  }

  /** A switch wins over the manifest, in both directions. */
  isEnabled (tool: Tool): boolean {
    return this.#defaults.overrideOf(tool.jobType).enabled ?? tool.enabled
  }

  /** The permissions of a tool that the deployment, or a key with a list of its own, does not allow. */
  permissionsBeyond (tool: Tool, ofKey: readonly Permission[] | undefined): Permission[] {
    return permissionsBeyond(tool.permissions, this.#defaults.permissions, ofKey)
  }

  /** With what a job of the tool runs. */
  limitsOf (tool: Tool, asked: Asked): { timeoutSec: number, maxAttempts: number } {
    return jobLimits({ ...this.#sources(tool), asked })
  }

  /** The type as the API shows it. */
  view (tool: Tool): JobTypeView {
    const { maxAttempts } = this.limitsOf(tool, { timeoutSec: undefined, maxAttempts: undefined })
    const { idempotent } = this.#defaults.overrideOf(tool.jobType)
    return {
      name: tool.jobType,
      enabled: this.isEnabled(tool),
      handler: tool.source.format === 'builtin' ? `builtin:${tool.jobType}` : `builtin:manifest.${tool.source.format}`,
      default_timeout_sec: defaultTimeoutSec(this.#sources(tool)),
      default_max_attempts: maxAttempts,
      ...(idempotent === undefined ? {} : { idempotent })
    }
  }

  #sources (tool: Tool): Omit<LimitSources, 'asked'> {
    return {
      override: this.#defaults.overrideOf(tool.jobType),
      tool: { isBuiltin: tool.source.format === 'builtin', ...(tool.timeoutSec === undefined ? {} : { timeoutSec: tool.timeoutSec }) },
      toolTimeoutSec: this.#defaults.toolTimeoutSec
    }
  }
}
