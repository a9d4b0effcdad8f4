export type { SkillOptions } from './skill/options.ts'
export { skillsPrompt } from './skill/prompt.ts'
export type { Skill } from './skill/skill.ts'
export { ToolsFile } from './skill/tools-file.ts'
export { loadRegistry, type Explanation, type RegisteredTool, type Registry, type RegistryOptions } from './registry.ts'
export type { LayerStep } from './merge.ts'
export { formatSchemas, type FormatSchema } from './format-schemas.ts'
export { lintForModels } from './model-lint/lint.ts'
export { strictForm, type StrictForm } from './model-lint/strict-form.ts'
export { strictToolSpec, withoutStrictNulls, type StrictToolSpec } from './model-lint/strict-spec.ts'
export { toolSpec } from './tool-spec.ts'
export { validateManifests, type Validation, type ValidationOptions } from './validation.ts'
export type { DocumentPath, Finding } from './finding.ts'
export type { Issue } from './schema/issues.ts'
export type { ArgumentsResult } from './schema/validator.ts'
export type {
  BuiltinRun, CommandRun, JsonSchema, Permission, PythonRun, ReadSkillRun, SkillArg, SkillFlagArg, SkillPositionalArg, SkillResolver, SkillRun, SkillSwitchArg,
  Tool, ToolRun, ToolSource
} from './tool.ts'
