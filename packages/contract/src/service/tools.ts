import type { Static } from 'typebox'
import { Type } from '../value/type.ts'

/** A tool as people look at it. Paths of files are for operators; they are null for keys of tenants. */
export const ToolSummary = Type.Object({
  name: Type.String(),
  type: Type.String({ description: 'Its job type.' }),
  description: Type.String(),
  namespace: Type.Optional(Type.String({ description: 'What it belongs to; absent for tools of manifests that say none.' })),
  format: Type.String({ description: 'agentcli, tool-manifest, skill or builtin.' }),
  runs: Type.String({ description: 'How it runs: command, python, skill, skill-command, skill-run, mcp, http, builtin or read-skill.' }),
  enabled: Type.Boolean(),
  audit: Type.Optional(Type.Enum(['experimental', 'trusted'], { description: 'Of what toolyard add has added: what its entry of the lock says.' })),
  unavailable: Type.Union([Type.String(), Type.Null()], { description: 'Why it can not run; null when it can.' }),
  permissions: Type.Array(Type.String(), { description: 'What it holds, by its manifest or by TOOL_DEFAULT_PERMISSIONS; who names hosts holds network for these.' }),
  file: Type.Union([Type.String(), Type.Null()], { description: 'The manifest that declares it.' })
})
export type ToolSummary = Static<typeof ToolSummary>

export const ToolFinding = Type.Object({
  severity: Type.Enum(['error', 'warning', 'note']),
  file: Type.String(),
  line: Type.Union([Type.Integer(), Type.Null()]),
  column: Type.Union([Type.Integer(), Type.Null()]),
  tool: Type.Union([Type.String(), Type.Null()]),
  rule: Type.String(),
  message: Type.String(),
  fix: Type.Union([Type.String(), Type.Null()])
})
export type ToolFinding = Static<typeof ToolFinding>

/** `GET /v1/registry`: every tool that the key may call or has switched off; for operators also what the manifests lack. */
export const ToolOverview = Type.Object({
  ok: Type.Literal(true),
  tools: Type.Array(ToolSummary),
  count: Type.Integer(),
  findings: Type.Array(ToolFinding, { description: 'For admin keys without a tenant; the first 500.' })
})
export type ToolOverview = Static<typeof ToolOverview>

/** One tool, with its schema and how it came to be. */
export const ToolView = Type.Intersect([ToolSummary, Type.Object({
  hosts: Type.Union([Type.Array(Type.String()), Type.Null()], { description: 'Hosts that it may reach, "*" for all; those of built-in tools are bounded by settings. For operators, else null.' }),
  parameters: Type.Unknown({ description: 'JSON Schema of its arguments.' }),
  timeout_sec: Type.Number(),
  max_attempts: Type.Integer(),
  idempotent: Type.Boolean(),
  serial: Type.Boolean({ description: 'At most one call of it runs at a time.' }),
  limits: Type.Record(Type.String(), Type.Number(), { description: 'What its manifest sets; the rest are the defaults of the sandbox.' }),
  steps: Type.Array(Type.Object({ file: Type.String(), did: Type.String(), because: Type.Union([Type.String(), Type.Null()]) }), {
    description: 'What each manifest did with the name, in their order; for operators.'
  }),
  findings: Type.Array(ToolFinding)
})])
export type ToolView = Static<typeof ToolView>

/** `GET /v1/registry/:name`. */
export const ToolResponse = Type.Object({ ok: Type.Literal(true), tool: ToolView })
