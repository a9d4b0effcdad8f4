import type { Permission } from '@toolyard/contract'
import type { Tool } from '@toolyard/manifests'
import type { CommandHost } from '../../command/run-command.ts'
import { failure, type Outcome, type RunContext } from '../../run/outcome.ts'
import { asChosen } from './choose.ts'
import type { CompileDeny } from './deny.ts'
import { runSkillCommand, type ShownFiles } from './run-skill-command.ts'

export interface SkillCommands {
  /** The tool as one call of it runs: with less than it may do, where the call needs less. */
  chosen (tool: Tool, args: Record<string, unknown>): Tool
  run (tool: Tool, args: Record<string, unknown>, context: RunContext, host: CommandHost & { filesDir: string }): Promise<Outcome>
}

/** `heldBy`: what a tool may do by its manifest and the service's settings; undefined where nothing says it. */
export function createSkillCommands (
  { compileDeny, shownFiles }: { compileDeny?: CompileDeny, shownFiles?: ShownFiles },
  heldBy: (tool: Tool) => readonly Permission[] | undefined
): SkillCommands {
  return {
    chosen: (tool, args) => tool.run.kind === 'skill-command' ? asChosen(tool, args, heldBy(tool)) : tool,
    async run (tool, args, context, host) {
      if (tool.run.kind !== 'skill-command') return failure('INTERNAL', `tool ${tool.name} is of no skill with three files`)
      return await runSkillCommand(tool.name, tool.run, args, context, { ...host, compileDeny, shownFiles, held: heldBy(tool) })
    }
  }
}
