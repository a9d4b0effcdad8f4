export type { BuiltinRun, CommandRun, JsonSchema, Tool, ToolRun, ToolSource } from './tool.ts'
