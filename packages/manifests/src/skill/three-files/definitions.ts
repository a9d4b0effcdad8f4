import type { Static } from 'typebox'
import { Type } from '@toolyard/contract/type'
import { nullable } from '../tools/shape.ts'

/** A field that isn't known may be a protection. */
const strict = { additionalProperties: false }
const Name = Type.String({ minLength: 1 })
const flag = (description: string) => nullable(Type.Boolean({ description }))
const most = 1_000

/** A script or a pair of the allowlist, and its arguments. */
const helper = {
  script: nullable(Type.String({ minLength: 1, description: 'Name of a file in scripts/.' })),
  binary: nullable(Name),
  subcommand: nullable(Type.String({ description: 'In allowlist.json, with the binary.' })),
  args: nullable(Type.Array(Type.String(), { maxItems: most, description: '"$param" stands for the value, "$name" for that of another parameter.' }))
}

export const Helper = Type.Object(helper, strict)
export type Helper = Static<typeof Helper>

const PostProcess = Type.Object({ ...helper, emptyIsResult: flag('An empty output is the result.') }, strict)

const Scalar = Type.Union([Type.String(), Type.Number(), Type.Boolean()])

export const Argument = Type.Object({
  param: nullable(Type.String({ description: 'Name of the parameter; of every kind but literal.' })),
  kind: Type.Optional(Type.Enum(['positional', 'flag', 'flagifboolean', 'stdin', 'workingdir', 'tempfile', 'literal'], { default: 'positional' })),
  value: nullable(Type.String({ description: 'Of the kind literal.' })),
  flag: nullable(Type.String({ minLength: 1, description: 'Of the kinds flag and tempfile; else the name of the parameter.' })),
  flagIfTrue: nullable(Type.String({ minLength: 1 })),
  flagIfFalse: nullable(Type.String({ minLength: 1 })),
  subcommandOverride: nullable(Type.String({ description: 'The subcommand where a parameter of the kind flagifboolean is true.' })),
  absentDefault: nullable(Scalar),
  optional: flag('The parameter may be left out.'),
  split: flag('Each word of a positional value is an argument.'),
  disambiguateAfterSkippedPositionals: flag('"--" comes first where an optional value before it was left out.'),
  allowDash: flag('A positional value, and each of its words, may start with "-". Of Toolyard alone.'),
  readPath: flag('A path inside the workspace.'),
  writePath: flag('A path inside the workspace that is written to.'),
  unsafePath: flag('A value that is not looked at.'),
  resolveCommand: nullable(Helper),
  denyPattern: nullable(Type.String({ minLength: 1, description: 'What the value must not match.' })),
  denyResolveCommand: nullable(Helper),
  denyAlwaysResolve: flag('The command gives the text that is looked at in any case.'),
  normalizeNewlines: flag('Has no effect.')
}, strict)
export type Argument = Static<typeof Argument>

const Hint = Type.Object({
  match: nullable(Type.String({ minLength: 1 })),
  exitCode: nullable(Type.Union([Type.Integer(), Type.Literal('nonzero')])),
  notEmpty: flag('The output is not empty.'),
  whenArg: nullable(Type.Unsafe<Record<string, unknown>>(Type.Object({}))),
  hint: Name
}, strict)

export const Execution = Type.Object({
  tool: Type.String({ description: 'Name of one of the tools.' }),
  binary: Name,
  subcommand: Type.String(),
  binaryWrapper: nullable(Type.Array(Type.String(), { minItems: 1, maxItems: 100 })),
  condition: nullable(Type.Object({ binGroup: Type.Integer({ minimum: 0 }) }, strict)),
  paramCondition: nullable(Type.Object({ present: nullable(Type.Array(Name)), absent: nullable(Type.Array(Name)) }, strict)),
  args: nullable(Type.Array(Argument, { maxItems: most })),
  successExitCodes: nullable(Type.Array(Type.Integer({ minimum: 0, maximum: 255 }), { maxItems: 256 })),
  postProcess: nullable(PostProcess),
  hintConditions: nullable(Type.Array(Hint, { maxItems: 100 })),
  sideRead: nullable(Type.Object({
    pathParam: Name,
    filename: Type.String({ pattern: '^[^/\\\\\\0]+$', maxLength: 255 }),
    label: nullable(Name),
    oncePerSession: flag('Once for each session and directory.')
  }, strict)),
  maxOutputLines: nullable(Type.Integer({ minimum: 1 })),
  truncationHint: nullable(Name)
}, strict)
export type Execution = Static<typeof Execution>

/** An element of tools.json; others of its fields are told and ignored. */
export const Declaration = Type.Object({
  name: Name,
  description: nullable(Type.String()),
  parameters: nullable(Type.Unsafe<Record<string, unknown>>(Type.Object({})))
})
export type Declaration = Static<typeof Declaration>

/** An entry of allowlist.json. */
export const Subcommands = Type.Array(Type.String())
