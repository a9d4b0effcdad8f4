export { loadRegistry, type RegisteredTool, type Registry, type RegistryOptions } from './registry.ts'
export type { SkillOptions } from './skill/options.ts'
export { skillsPrompt } from './skill/prompt.ts'
export type { Skill } from './skill/skill.ts'
export { ToolsFile } from './skill/tools-file.ts'
export { toolSpec } from './tool-spec.ts'
export type { Finding } from './finding.ts'
export type { Issue } from './schema/issues.ts'
export type { ArgumentsResult } from './schema/validator.ts'
export type {
  BuiltinRun, CommandRun, JsonSchema, PythonRun, ReadSkillRun, SkillArg, SkillFlagArg, SkillPositionalArg, SkillResolver, SkillRun, SkillSwitchArg,
  Tool, ToolRun, ToolSource
} from './tool.ts'
