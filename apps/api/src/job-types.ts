import { limits, permissionsBeyond, type JobTypeView, type Permission, type PermissionPolicy } from '@toolyard/contract'
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

  /**
   * With what a job of the tool runs. The execution timeout of a manifest bounds what a submitter may ask for, and wins
   * over the type's (X8); that of a built-in tool is its type's default.
   */
  limitsOf (tool: Tool, asked: Asked): { timeoutSec: number, maxAttempts: number } {
    const override = this.#defaults.overrideOf(tool.jobType)
    const bound = tool.source.format === 'builtin' ? limits.toolTimeoutSec.max : tool.timeoutSec ?? limits.toolTimeoutSec.max
    return {
      timeoutSec: Math.min(asked.timeoutSec ?? this.#defaultTimeoutSec(tool), bound),
      maxAttempts: asked.maxAttempts ?? override.defaultMaxAttempts ?? limits.attempts.default
    }
  }

  /** The type as the API shows it. */
  view (tool: Tool): JobTypeView {
    const { maxAttempts } = this.limitsOf(tool, { timeoutSec: undefined, maxAttempts: undefined })
    return {
      name: tool.jobType,
      enabled: this.isEnabled(tool),
      handler: tool.source.format === 'builtin' ? `builtin:${tool.jobType}` : `builtin:manifest.${tool.source.format}`,
      default_timeout_sec: this.#defaultTimeoutSec(tool),
      default_max_attempts: maxAttempts
    }
  }

  #defaultTimeoutSec (tool: Tool): number {
    return this.#defaults.overrideOf(tool.jobType).defaultTimeoutSec ?? tool.timeoutSec ?? this.#defaults.toolTimeoutSec
  }
}
