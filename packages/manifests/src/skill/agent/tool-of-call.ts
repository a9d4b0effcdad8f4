import { join } from 'node:path'
import { withoutUndefined } from '@toolyard/contract/terms'
import type { Tool } from '../../tool/tool.ts'

/**
 * The tool as one call of it runs: a call of `skill_run` has the permissions, hosts, secrets, limits and timeout of the skill that it
 * names, and none of its own. Whoever asks what a call may do asks about this tool.
 */
export function toolOfCall (tool: Tool, { skill: name }: Readonly<Record<string, unknown>>): Tool {
  const { run } = tool
  const skill = run.kind === 'skill-run' && typeof name === 'string' && Object.hasOwn(run.skills, name) ? run.skills[name] : undefined
  if (skill === undefined) return tool
  const { permissions: _, limits: __, network: ___, secrets: ____, timeoutSec: _____, ...rest } = tool
  const { permissions, network, secrets, limits, timeoutSec, audit } = skill
  return {
    ...rest,
    ...withoutUndefined({ permissions, network, secrets, limits, timeoutSec, audit }),
    ...skill.unixSockets && { unixSockets: true },
    source: { ...tool.source, file: join(skill.directory, 'SKILL.md') }
  }
}
