import type { Static } from 'typebox'
import { limits, permissions as knownPermissions } from '@toolyard/contract/terms'
import { Type } from '@toolyard/contract/type'
import { Limits } from '../program/limit-fields.ts'
import { policyFields } from '../schema/policy/definition.ts'
import { digestPattern } from '../program/pin.ts'
import { manifestLimits } from '../tool/limits.ts'
import type { JsonSchema } from '../tool/tool.ts'
import { HttpEntry } from './request/definition.ts'
import { McpEntry } from './mcp/definition.ts'
import { secretsField } from '../program/secrets.ts'
import { networkField, unixSocketsField } from '../program/network.ts'
import { SkillEntry } from './skill/definition.ts'
import { catalogueFields, Namespace } from '../layer/catalogue-fields.ts'

const flag = (description: string, standard: boolean) => Type.Optional(Type.Boolean({ description, default: standard }))

export const PublishedResource = Type.Object({
  uri: Type.String({ description: 'URI of the resource. {NAME} in it stands for an argument: report://{year}/{month}.' }),
  mimeType: Type.Optional(Type.String({ description: 'Type of what it gives.' }))
}, { additionalProperties: false })

export const Warm = Type.Union([Type.Integer({ minimum: 0, maximum: manifestLimits.warm }), Type.Literal('auto')], {
  description: 'Processes that wait in their boxes in each worker, each for one call; "auto": as many as its calls lately took at once.'
})

/** One declaration of `tools`; the fields from `permissions` on are Toolyard's own. */
export const AgentcliTool = Type.Object({
  name: Type.String({ minLength: 1, description: 'Unique name that the tool is called by.' }),
  description: Type.Optional(Type.String({ description: 'Short description for the model.' })),
  schema: Type.Optional(Type.Unsafe<JsonSchema>(Type.Object({}, { description: 'JSON Schema of the arguments.' }))),
  command: Type.Array(Type.String(), { minItems: 1, description: 'Program, ./tools/bin/NAME or an absolute path, and its fixed arguments.' }),
  timeoutSec: Type.Optional(Type.Integer({ description: `Seconds; at most ${limits.toolTimeoutSec.max} are used, 0 stands for the default.` })),
  envPassthrough: Type.Optional(Type.Array(Type.String(), { description: 'Environment variables that pass to the tool.' })),
  permissions: Type.Optional(Type.Array(Type.String({ examples: [...knownPermissions] }), { description: 'What the sandbox lets it do.' })),
  network: networkField,
  unixSockets: unixSocketsField,
  secrets: secretsField,
  limits: Type.Optional(Limits),
  warm: Type.Optional(Warm),
  sha256: Type.Optional(Type.String({ pattern: digestPattern, description: 'SHA-256 of the program, as sha256sum prints it: another program is not run.' })),
  ...policyFields,
  ...catalogueFields,
  publishAs: Type.Optional(Type.Union([Type.Literal('prompt'), PublishedResource], { description: 'What clients of MCP see instead of a tool: a prompt, or a resource.' })),
  enabled: flag('Whether it is served.', true),
  disabled: flag('The same, the other way round.', false),
  override: flag('Whether it may replace a built-in tool.', false),
  idempotent: flag('Whether a call may run again after its worker died.', false),
  asks: flag('Whether it may ask something back: it runs again from its start with the answer.', false)
})
export type AgentcliTool = Static<typeof AgentcliTool>

/** An entry that only switches a tool of an earlier layer. */
const AgentcliSwitch = Type.Object({
  name: Type.String({ minLength: 1, description: 'Name of a tool of an earlier manifest.' }),
  enabled: Type.Optional(Type.Boolean()),
  disabled: Type.Optional(Type.Boolean())
}, { anyOf: [{ required: ['enabled'] }, { required: ['disabled'] }] })

export const AgentcliManifest = Type.Object({
  $schema: Type.Optional(Type.String({ description: 'Tells editors where the schema of this file is.' })),
  namespace: Type.Optional(Namespace),
  tools: Type.Optional(Type.Array(Type.Union([AgentcliTool, AgentcliSwitch, HttpEntry, McpEntry, SkillEntry])))
})
