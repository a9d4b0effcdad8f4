import type { Tool } from '../../tool/tool.ts'

/** The tool with the timeout of one call of it: a call of `skill_run` has that of the skill that it names. */
export function withCallTimeout (tool: Tool, { skill }: Readonly<Record<string, unknown>>): Tool {
  const { run } = tool
  if (run.kind !== 'skill-run' || typeof skill !== 'string' || !Object.hasOwn(run.skills, skill)) return tool
  const { timeoutSec: _, ...rest } = tool
  const own = run.skills[skill]?.timeoutSec
  return own === undefined ? rest : { ...rest, timeoutSec: own }
}
