import type { Static } from 'typebox'
import { limits, permissions as knownPermissions, secretNamePattern } from '@toolyard/contract/terms'
import { Type } from '@toolyard/contract/type'
import { catalogueFields } from '../../layer/catalogue-fields.ts'
import { networkField, unixSocketsField } from '../../program/network.ts'
import { policyFields } from '../../schema/policy/definition.ts'
import { Limits } from '../../program/limit-fields.ts'
import type { SettingText } from '../../tool/tool.ts'

const flag = (description: string, standard: boolean) => Type.Optional(Type.Boolean({ description, default: standard }))

const prefix = { type: 'string', description: 'Stands in front of its value, such as "Bearer ".' }
const settingText = {
  anyOf: [
    { type: 'string' },
    {
      type: 'object',
      required: ['setting'],
      additionalProperties: false,
      properties: {
        setting: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$', description: 'Name of an environment variable of the worker.' },
        prefix
      }
    },
    {
      type: 'object',
      required: ['secret'],
      additionalProperties: false,
      properties: {
        secret: { type: 'string', pattern: secretNamePattern, description: 'Name of a stored secret (toolyard secrets set NAME).' },
        prefix
      }
    }
  ]
}
const texts = (description: string) => Type.Optional(Type.Unsafe<Record<string, SettingText>>({ type: 'object', additionalProperties: settingText, description }))

/** `mcp` of an entry: the fields of `mcpServers` elsewhere. */
export const McpFields = Type.Object({
  type: Type.Optional(Type.Enum(['stdio', 'http', 'streamable-http'], { description: 'Told by command or url; there is no need to write it.' })),
  command: Type.Optional(Type.Union([Type.String({ minLength: 1 }), Type.Array(Type.String({ minLength: 1 }), { minItems: 1 })], { description: 'Program of the server: a name on the PATH, ./tools/... beside the manifest, or an absolute path; arguments may follow in a list.' })),
  args: Type.Optional(Type.Array(Type.String(), { description: 'Further arguments. Those that begin with ./tools/ are files beside the manifest.' })),
  env: texts('Its environment beside PATH, HOME and LANG. Secrets by {"setting": NAME} or {"secret": NAME} alone.'),
  url: Type.Optional(Type.Unsafe<SettingText>({ ...settingText, description: 'URL of a server that speaks streamable HTTP. One that holds a secret by {"setting": NAME, "prefix": "https://host/mcp?key="}, or secret in place of setting, alone.' })),
  headers: texts('Sent with each request to url. Secrets by {"setting": NAME, "prefix": "Bearer "}, or secret in place of setting, alone.')
})

/** An entry that publishes tools of an MCP server; Toolyard's own. */
export const McpEntry = Type.Object({
  name: Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$', description: 'Unique name of the server in this manifest.' }),
  mcp: McpFields,
  prefix: Type.Optional(Type.String({ maxLength: 64, description: 'In front of the names of its tools; the name and "_" without it.' })),
  tools: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 1_000, description: 'Which tools, by their names on the server: * stands for any letters, ! in front leaves out. The last one that fits counts.' })),
  timeoutSec: Type.Optional(Type.Integer({ minimum: 0, description: `Seconds for one call; at most ${limits.toolTimeoutSec.max} are used, 0 stands for the default.` })),
  permissions: Type.Optional(Type.Array(Type.String({ examples: [...knownPermissions] }), { description: 'What the sandbox lets the server do.' })),
  network: networkField,
  unixSockets: unixSocketsField,
  limits: Type.Optional(Limits),
  ...catalogueFields,
  ...policyFields,
  enabled: flag('Whether its tools are served.', true),
  disabled: flag('The same, the other way round.', false),
  override: flag('Whether they may replace built-in tools.', false),
  idempotent: flag('Whether a call may run again after its worker died.', false),
  asks: flag('Whether it may ask something back during a call: the call is made again with the answer.', false)
}, { description: 'An MCP server whose accepted tools are published (toolyard accept).' })
export type McpEntry = Static<typeof McpEntry>
