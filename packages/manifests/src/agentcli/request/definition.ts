import type { Static } from 'typebox'
import { limits, secretNamePattern } from '@toolyard/contract/terms'
import { Type } from '@toolyard/contract/type'
import { catalogueFields } from '../../layer/catalogue-fields.ts'
import { policyFields } from '../../schema/policy/definition.ts'
import { Limits } from '../../program/limit-fields.ts'
import { httpMethods, queryStyles, type JsonSchema } from '../../tool/tool.ts'

const flag = (description: string, standard: boolean) => Type.Optional(Type.Boolean({ description, default: standard }))

/** A value that only the workers know. */
const SecretValue = Type.Object({
  setting: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$', description: 'Name of an environment variable of the workers.' }),
  prefix: Type.Optional(Type.String({ description: 'Stands in front of its value, such as "Bearer ".' })),
  base64: Type.Optional(Type.Boolean({ description: 'The value, such as user:password, is sent as base64.' }))
}, { additionalProperties: false })

const storedName = Type.String({ pattern: secretNamePattern, description: 'Name of a stored secret (toolyard secrets set NAME).' })
/** A value that was stored for the key, the tenant or the operator. */
const StoredValue = Type.Object({
  secret: storedName,
  prefix: Type.Optional(Type.String({ description: 'Stands in front of its value, such as "Bearer ".' })),
  base64: Type.Optional(Type.Boolean({ description: 'The value, such as user:password, is sent as base64.' }))
}, { additionalProperties: false })

const QueryItem = Type.Union([
  Type.String({ minLength: 1, description: 'An argument that is sent under its own name.' }),
  Type.Object({
    argument: Type.String({ minLength: 1 }),
    name: Type.Optional(Type.String({ minLength: 1, description: 'What it is called in the URL.' })),
    style: Type.Optional(Type.Enum([...queryStyles], { description: 'How lists and objects are written; repeat is the default.' }))
  }, { additionalProperties: false }),
  Type.Object({
    setting: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]*$', description: 'Name of an environment variable of the workers.' }),
    name: Type.String({ minLength: 1 })
  }, { additionalProperties: false }),
  Type.Object({ secret: storedName, name: Type.String({ minLength: 1 }) }, { additionalProperties: false })
])

const Body = Type.Union([
  Type.Enum(['json', 'form', 'none'], { description: 'What the other arguments make: a JSON object, a form, or nothing, so that they go to the query.' }),
  Type.Object({
    type: Type.Enum(['json', 'form']),
    argument: Type.Optional(Type.String({ minLength: 1, description: 'The argument whose value is the whole body; without it the other arguments make it.' })),
    styles: Type.Optional(Type.Record(Type.String(), Type.Enum([...queryStyles]), { description: 'How lists and objects are written, by the fields of a form; repeat is the default.' }))
  }, { additionalProperties: false })
])

export const DescribedRequest = Type.Object({
  method: Type.Enum([...httpMethods]),
  url: Type.String({ minLength: 1, description: 'https:// or http:// URL; {name} in its path stands for an argument.' }),
  query: Type.Optional(Type.Array(QueryItem, { maxItems: 200, description: 'Arguments that go to the query.' })),
  headers: Type.Optional(Type.Unsafe<Record<string, string | Static<typeof SecretValue> | Static<typeof StoredValue>>>({
    type: 'object',
    additionalProperties: { anyOf: [{ type: 'string', description: 'Text, in which {name} stands for an argument.' }, SecretValue, StoredValue] }
  })),
  body: Type.Optional(Body)
}, { additionalProperties: false, description: 'One HTTP request.' })
export type DescribedRequest = Static<typeof DescribedRequest>

export const OperationReference = Type.Object({
  openapi: Type.String({ minLength: 1, description: 'Path of an OpenAPI document of version 3, from the directory of the manifest.' }),
  operation: Type.String({ minLength: 1, description: 'Its operationId, or METHOD /path.' }),
  server: Type.Optional(Type.String({ minLength: 1, description: 'In place of the server that the document names.' })),
  settings: Type.Optional(Type.Unsafe<Record<string, string>>({
    type: 'object', additionalProperties: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' }, description: 'Environment variables by the names of security schemes.'
  }))
}, { additionalProperties: false, description: 'One operation of an OpenAPI document.' })
export type OperationReference = Static<typeof OperationReference>

/** An entry whose tool is an HTTP request; Toolyard's own. */
export const HttpEntry = Type.Object({
  name: Type.String({ minLength: 1, description: 'Unique name that the tool is called by.' }),
  description: Type.Optional(Type.String({ description: 'Short description for the model.' })),
  schema: Type.Optional(Type.Unsafe<JsonSchema>(Type.Object({}, { description: 'JSON Schema of the arguments.' }))),
  parameters: Type.Optional(Type.Unsafe<JsonSchema>(Type.Object({}, { description: 'The same as schema.' }))),
  http: Type.Union([DescribedRequest, OperationReference]),
  timeoutSec: Type.Optional(Type.Integer({ minimum: 0, description: `Seconds; at most ${limits.toolTimeoutSec.max} are used, 0 stands for the default.` })),
  permissions: Type.Optional(Type.Array(Type.String(), { description: 'A request needs network alone, and has it.' })),
  limits: Type.Optional(Limits),
  ...policyFields,
  ...catalogueFields,
  enabled: flag('Whether it is served.', true),
  disabled: flag('The same, the other way round.', false),
  override: flag('Whether it may replace a built-in tool.', false),
  idempotent: Type.Optional(Type.Boolean({ description: 'Whether a call may run again after its worker died; by default GET, HEAD, PUT and DELETE may.' }))
}, { description: 'A request to an HTTP API.' })
export type HttpEntry = Static<typeof HttpEntry>

/** The two forms by themselves: of an entry, only the faults of its own form are told. */
export const requestEntry = Type.Object({ ...HttpEntry.properties, http: DescribedRequest })
export const referenceEntry = Type.Object({ ...HttpEntry.properties, http: OperationReference })
