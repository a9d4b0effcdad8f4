import { limits } from './limits.ts'

/** Undefined is what nobody has said. */
export interface LimitSources {
  asked?: { timeoutSec?: number | undefined, maxAttempts?: number | undefined }
  /** Switched for its type. */
  override: { defaultTimeoutSec?: number, defaultMaxAttempts?: number }
  /** The timeout of a built-in tool is a default, that of a manifest a bound. */
  tool: { timeoutSec?: number, source: { format: string } }
  /** Execution timeout of tools that set none, in seconds. */
  toolTimeoutSec: number
}

/**
 * With what a job runs. The execution timeout of a manifest bounds what a submitter may ask for, and wins over the
 * type's; that of a built-in tool is its type's default.
 */
export function jobLimits ({ asked = {}, override, tool, toolTimeoutSec }: LimitSources): { timeoutSec: number, maxAttempts: number } {
  const bound = tool.source.format === 'builtin' ? limits.toolTimeoutSec.max : tool.timeoutSec ?? limits.toolTimeoutSec.max
  return {
    timeoutSec: Math.min(asked.timeoutSec ?? defaultTimeoutSec({ override, tool, toolTimeoutSec }), bound),
    maxAttempts: asked.maxAttempts ?? override.defaultMaxAttempts ?? limits.attempts.default
  }
}

/** The execution timeout of a type, in seconds. */
export function defaultTimeoutSec ({ override, tool, toolTimeoutSec }: Omit<LimitSources, 'asked'>): number {
  return override.defaultTimeoutSec ?? tool.timeoutSec ?? toolTimeoutSec
}
