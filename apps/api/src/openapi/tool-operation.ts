import { ToolCallQuery, ToolPending } from '@toolyard/contract'
import { outputSchemaOf, type Tool } from '@toolyard/manifests'
import { errorReference, toolStatuses } from './error-answers.ts'
import { headerParameter, headerReferences } from './headers.ts'
import { toolComponents } from './tool-schema.ts'

export interface ToolEntry {
  path: string
  operations: object
  schemas: Record<string, unknown>
}

/** Errors of any tool: also the key and the tool itself may be gone when it is called. */
const errors = Object.fromEntries(toolStatuses.map(status => [
  status,
  errorReference('ToolError', status)
]))
/** The parameters that every tool has, as components. */
export const toolParameters = Object.fromEntries(Object.entries(ToolCallQuery.properties).map(([name, schema]) => [name, {
  name,
  in: 'query',
  description: name === 'queue' ? 'The queue that the call waits in.' : 'How long the answer may take, in milliseconds.',
  schema
}]))
export const parametersOfTools = Object.keys(toolParameters).map(name => ({ $ref: `#/components/parameters/${name}` }))
const parameters = [...parametersOfTools, headerParameter('Idempotency-Key')]
const pending = {
  description: '`wait_ms` ended first; the job goes on.',
  headers: headerReferences(['Location', 'x-toolyard-job-id']),
  content: { 'application/json': { schema: { $ref: '#/components/schemas/ToolPending' } } }
}
export const schemasOfTools = [ToolPending]

/** Headers that they refer to. */
export const headersOfTools = ['Idempotency-Key', 'x-request-id', 'Retry-After', 'Location', 'x-toolyard-job-id', 'x-toolyard-output-bytes']

/** The operation of a tool whose name is one that models accept. */
export function toolEntry (tool: Tool): ToolEntry {
  const { name, description, parameters: schema } = tool
  const output = outputSchemaOf(tool)
  return {
    path: `/v1/tools/${name}`,
    operations: {
      post: {
        operationId: name,
        tags: ['tools'],
        summary: summaryOf(tool),
        ...(description === '' ? {} : { description }),
        parameters,
        requestBody: {
          required: Array.isArray(schema['required']) && schema['required'].length > 0,
          content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}.arguments` } } }
        },
        responses: {
          200: {
            description: 'The output of the tool.',
            headers: headerReferences(['x-toolyard-job-id', 'x-toolyard-output-bytes']),
            content: { 'application/json': { schema: output === undefined ? {} : { $ref: `#/components/schemas/${name}.output` } } }
          },
          202: pending,
          ...errors
        }
      }
    },
    schemas: { ...toolComponents(`${name}.arguments`, schema), ...(output === undefined ? {} : toolComponents(`${name}.output`, output)) }
  }
}

/** A line that lists have room for. */
const summaryChars = 100

function summaryOf ({ name, description }: Tool): string {
  const [line = ''] = description.trim().split('\n', 1)
  if (line === '') return name
  return line.length <= summaryChars ? line : `${line.slice(0, line.lastIndexOf(' ', summaryChars - 1)).slice(0, summaryChars - 1)}…`
}
