import type { Tool } from '@toolyard/manifests'
import type { JobTypes } from '../job-types.ts'
import type { Principal } from '../plugins/auth.ts'

/** Says that a tool holds permissions which the deployment or the key does not allow; undefined when it holds none. */
export function permissionRefusal (tool: Tool, { permissions }: Principal, jobTypes: JobTypes): { message: string, details: { permissions: string[] } } | undefined {
  const beyond = jobTypes.permissionsBeyond(tool, permissions)
  if (beyond.length === 0) return undefined
  return { message: `Tool '${tool.name}' needs permissions that are not allowed: ${beyond.join(', ')}`, details: { permissions: beyond } }
}
