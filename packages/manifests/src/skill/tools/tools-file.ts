import { limits, permissions as knownPermissions } from '@toolyard/contract/terms'
import type { Static } from 'typebox'
import { Type } from '@toolyard/contract/type'
import { StrictLimits } from '../../program/limit-fields.ts'
import { digestPattern } from '../../program/pin.ts'
import type { JsonSchema } from '../../tool/tool.ts'
import { networkField } from '../../program/network.ts'
import { nullable } from './shape.ts'

/** Unknown fields may be protections of a newer format, so they are refused. */
const strict = { additionalProperties: false }
const Name = Type.String({ minLength: 1 })

const Digest = nullable(Type.String({ pattern: digestPattern, description: 'SHA-256 of the program or script, as sha256sum prints it: another one is not run.' }))

/** `tools[]`; the fields from `permissions` on are Toolyard's own. */
export const ToolDeclaration = Type.Object({
  name: Type.String({ description: 'Must match the tool of one execution.' }),
  description: nullable(Type.String({ description: 'Short description for the model.' })),
  parameters: nullable(Type.Unsafe<JsonSchema>(Type.Object({}, { description: 'JSON Schema of the arguments.' }))),
  permissions: nullable(Type.Array(Type.Enum([...knownPermissions]), { description: 'What the sandbox lets it do.' })),
  network: networkField,
  timeoutSec: nullable(Type.Number({ exclusiveMinimum: 0, maximum: limits.toolTimeoutSec.max, description: 'Seconds, fractions too.' })),
  limits: nullable(StrictLimits)
}, strict)
export type ToolDeclaration = Static<typeof ToolDeclaration>

/** `execution[].args[].resolveCommand`. */
export const ResolveCommand = Type.Object({
  script: nullable(Type.String({ minLength: 1, description: 'Name of a file in scripts/, used when scripts are allowed.' })),
  binary: nullable(Type.String({ minLength: 1, description: 'Key of allowlist.' })),
  subcommand: nullable(Type.String({ description: 'In allowlist[binary].' })),
  args: Type.Optional(Type.Array(Type.String(), { description: '"$param" stands for the value.' })),
  sha256: Digest
}, strict)
export type ResolveCommand = Static<typeof ResolveCommand>

/** `execution[].args[]`. */
export const ArgMapping = Type.Object({
  param: Type.String({ description: 'Name of the parameter.' }),
  kind: Type.Optional(Type.Enum(['positional', 'flag', 'flagifboolean'], { default: 'positional' })),
  flag: nullable(Type.String({ minLength: 1, description: 'Of the kind flag: its name, else the name of the parameter.' })),
  flagIfTrue: nullable(Type.String({ minLength: 1, description: 'Of the kind flagifboolean.' })),
  flagIfFalse: nullable(Type.String({ minLength: 1, description: 'Of the kind flagifboolean: emitted for every value that is not true.' })),
  normalizeNewlines: nullable(Type.Boolean({ description: 'Literal \\n and \\t become a newline and a tab.' })),
  allowDash: nullable(Type.Boolean({ description: 'Whether a text may start with "-"; a negative number may. Default: false for positional, true for flag.' })),
  resolveCommand: nullable(ResolveCommand)
}, strict)
export type ArgMapping = Static<typeof ArgMapping>

export const Execution = Type.Object({
  tool: Type.String({ description: 'Name of one of the tools.' }),
  binary: Name,
  subcommand: Type.String({ description: 'In allowlist[binary]; split on white space into elements of argv.' }),
  args: Type.Optional(Type.Array(ArgMapping)),
  sha256: Digest
}, strict)
export type Execution = Static<typeof Execution>

/** A skill's `tools.json`. The objects without `properties` are maps. */
export const ToolsFile = Type.Object({
  tools: Type.Optional(Type.Array(ToolDeclaration)),
  allowlist: Type.Optional(Type.Unsafe<Record<string, string[]>>(Type.Object({}, {
    additionalProperties: Type.Array(Type.String()),
    description: 'Binary name: subcommands that may run.'
  }))),
  execution: Type.Optional(Type.Array(Execution))
}, strict)
export type ToolsFile = Static<typeof ToolsFile>
