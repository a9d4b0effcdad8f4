import type { Static, TSchema, TUnsafe } from 'typebox'
import { limits, permissions as knownPermissions } from '@toolyard/contract/terms'
import { Type } from '@toolyard/contract/type'
import { SnakeLimits } from '../program/limit-fields.ts'
import { policyFields } from '../schema/policy/definition.ts'
import { digestPattern } from '../program/pin.ts'
import { catalogueFields, Namespace } from '../layer/catalogue-fields.ts'
import { secretsField } from '../program/secrets.ts'
import { networkField } from '../program/network.ts'

export const parameterTypes = ['array', 'boolean', 'integer', 'number', 'object', 'string'] as const

/** Texts that say something: white space alone doesn't. */
const text = (description: string) => Type.String({ pattern: '\\S', description })
const texts = (description: string) => Type.Array(Type.String(), { description })
const flag = (description: string, standard: boolean) => Type.Optional(Type.Boolean({ description, default: standard }))
const optionalText = (description: string) => Type.Optional(Type.Union([text(description), Type.Null()]))

/** A map: `Type.Record` would refuse names with a line feed. */
function mapOf<T extends TSchema> (values: T, description: string): TUnsafe<Record<string, Static<T>>> {
  return Type.Unsafe<Record<string, Static<T>>>(Type.Object({}, { additionalProperties: values, description }))
}

/** `outputs.*`: a small JSON Schema; keywords that aren't listed are passed on. */
const outputFields = {
  type: Type.Enum([...parameterTypes]),
  description: Type.Optional(Type.String()),
  enum: Type.Optional(Type.Array(Type.Unknown(), { minItems: 1 })),
  items: Type.Optional(Type.Unsafe<Record<string, unknown>>(Type.Object({}, { description: 'JSON Schema of the items of an array.' }))),
  properties: Type.Optional(mapOf(Type.Unsafe<Record<string, unknown>>(Type.Object({})), 'Name: JSON Schema, for an object.'))
}
const OutputField = Type.Object(outputFields)

/** `inputs.*`: the same, with `required` as a boolean. */
const InputField = Type.Object({
  ...outputFields,
  required: flag('Whether a call must have it.', false),
  default: Type.Optional(Type.Unknown({ description: 'The value when a call has none.' }))
})
type InputField = Static<typeof InputField>

/** `runtime`: hints, of which these have an effect. */
const Runtime = Type.Object({
  timeout_seconds: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: `Seconds, fractions too; at most ${limits.toolTimeoutSec.max} are used.` })),
  concurrency: Type.Optional(Type.String({ description: '"serial": at most one call at a time, over all workers.', examples: ['serial'] })),
  limits: Type.Optional(SnakeLimits)
})

/** One declaration of `tools`; the fields from `enabled` on are Toolyard's own. */
export const ToolDescriptor = Type.Object({
  name: Type.String({ pattern: '^[a-z0-9_-]+$', description: 'Unique name that the tool is called by.' }),
  description: text('Short summary of what the tool does.'),
  module: text('Python module that has the tool, from the Python root: src.bridge.tools.git_status.'),
  class_name: optionalText('Class in the module; else its first own subclass of Tool.'),
  permissions: Type.Optional(Type.Array(Type.String({ examples: [...knownPermissions] }), { description: 'What the sandbox lets it do; without them what TOOL_DEFAULT_PERMISSIONS says.' })),
  network: networkField,
  secrets: secretsField,
  inputs: Type.Optional(mapOf(InputField, 'Name: schema of a parameter.')),
  outputs: Type.Optional(mapOf(OutputField, 'Name: schema of what is returned by that name.')),
  runtime: Type.Optional(Runtime),
  notes: Type.Optional(Type.Union([Type.String({ description: 'Free text for operators.' }), Type.Null()])),
  config: Type.Optional(Type.Union([mapOf(Type.Unknown(), 'Third argument of the constructor.'), Type.Null()])),
  enabled: flag('Whether it is served.', true),
  disabled: flag('The same, the other way round.', false),
  override: flag('Whether it may replace a built-in tool.', false),
  idempotent: flag('Whether a call may run again after its worker died.', false),
  asks: flag('Whether it may ask something back: it runs again from its start with the answer.', false),
  strict_outputs: flag('Whether a result that does not fit outputs is an error, not a warning.', false),
  sha256: Type.Optional(Type.String({ pattern: digestPattern, description: 'SHA-256 of the file of the module, as sha256sum prints it: another one is not run.' })),
  ...policyFields,
  ...catalogueFields,
  python_root: optionalText('Directory that modules are imported from, relative to the manifest; else the nearest directory above it that has the module.')
})
export type ToolDescriptor = Static<typeof ToolDescriptor>

/** An entry that only switches a tool of an earlier layer; its name may be of any format. */
export const ToolSwitch = Type.Object({
  name: text('Name of a tool of an earlier manifest.'),
  enabled: Type.Optional(Type.Boolean()),
  disabled: Type.Optional(Type.Boolean())
}, { anyOf: [{ required: ['enabled'] }, { required: ['disabled'] }] })
export type ToolSwitch = Static<typeof ToolSwitch>

/** `metadata`. Other fields are for others. */
const Metadata = Type.Object({
  name: text('Name of the bundle.'),
  description: text('What the bundle is for.'),
  maintainers: Type.Optional(texts('Who looks after it.')),
  tags: Type.Optional(texts('Words to find it by.'))
})

export const ToolManifest = Type.Object({
  $schema: Type.Optional(Type.String({ description: 'Tells editors where the schema of this file is.' })),
  schema_version: Type.Literal('1.0', { description: 'Version of the format.' }),
  metadata: Metadata,
  namespace: Type.Optional(Namespace),
  tools: Type.Array(Type.Union([ToolDescriptor, ToolSwitch]), { minItems: 1 }),
  python_root: optionalText('python_root of the tools that have none.')
})
