import { callErrors, ErrorBody, httpErrors, ToolErrorBody } from '@toolyard/contract'
import { examples } from './descriptions/examples.ts'
import type { DocumentSchema, NamedSchemas } from './named-schemas.ts'

type ErrorTable = Readonly<Record<string, { status: number, meaning: string }>>

/** The codes that a status stands for, and what they mean. */
function codesOf (table: ErrorTable, status: number): Array<[string, string]> {
  return Object.entries(table).filter(([, error]) => error.status === status).map(([code, { meaning }]) => [code, meaning])
}

const errorStatuses = [...new Set(Object.values(httpErrors).map(({ status }) => status))].sort()
/** Those that routes for files alone have. */
const fileStatuses = [412, 416, 507]
const callErrorStatuses = [...new Set(Object.values(callErrors).map(({ status }) => status))].filter(status => status >= 400).sort()

/** Statuses that `POST /v1/tools/:name` can have. */
export const toolStatuses = [...new Set([...errorStatuses, ...callErrorStatuses])].filter(status => !fileStatuses.includes(status)).sort()

/** Statuses that say when the request may be sent again. */
const retryLater = [429, 503]

/** The errors of the document, by their names: `Error404` for a request, `ToolError404` for a call that is the request. */
export function errorAnswers (schemas: NamedSchemas, kind: 'Error' | 'ToolError'): Record<string, object> {
  const schema = schemas.refer(kind === 'Error' ? ErrorBody : ToolErrorBody)
  const statuses = kind === 'Error' ? errorStatuses : toolStatuses
  return Object.fromEntries(statuses.map(status => {
    const codes = [...(kind === 'Error' ? [] : codesOf(callErrors, status)), ...codesOf(httpErrors, status)]
    return [`${kind}${status}`, errorAnswer(status, codes, schema)]
  }))
}

export function errorReference (kind: 'Error' | 'ToolError', status: number): { $ref: string } {
  return { $ref: `#/components/responses/${kind}${status}` }
}

function errorAnswer (status: number, codes: ReadonlyArray<[string, string]>, schema: DocumentSchema): object {
  const [[code, message] = ['', '']] = codes
  return {
    description: codes.map(([code, meaning]) => `\`${code}\`: ${meaning}`).join('\n\n'),
    headers: {
      'x-request-id': { $ref: '#/components/headers/x-request-id' },
      ...(retryLater.includes(status) ? { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } : {})
    },
    content: {
      'application/json': {
        schema,
        example: {
          ok: false,
          error: { code, message, ...(code === 'VALIDATION_ERROR' ? { details: {} } : {}) },
          request_id: examples.requestId
        }
      }
    }
  }
}
