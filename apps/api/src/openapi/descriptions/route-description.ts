import type { TSchema } from 'typebox'

/** Groups of operations, in their order, with what they are. */
export const tags = {
  tools: 'The tools that a key may see, and running them one by one.',
  batches: 'Several calls of a model in one request: one answer per call.',
  files: 'Files of the workspace: up, down, listed, removed.',
  sessions: 'Workspaces of one tenant, for the calls that name them.',
  jobs: 'What became of a call: states, results, logs, cancelling.',
  'job types': 'The switchable records behind the tools.',
  operation: 'What operators look at: workers and statistics.',
  access: 'Who a key is, and tickets for event streams.',
  service: 'The state of the service, and this document.'
} as const

/** Headers of requests and of answers that operations have, by their names in the document. */
export type HeaderName =
  | 'Idempotency-Key' | 'If-Match' | 'If-None-Match' | 'If-Range' | 'Range' | 'Last-Event-ID'
  | 'Content-Range' | 'ETag' | 'Location' | 'x-toolyard-job-id' | 'x-toolyard-output-bytes'

export interface AnswerDescription {
  description: string
  /** By content type; without it the schema of the route, as JSON. */
  content?: Readonly<Record<string, { schema: TSchema, example?: unknown }>>
  example?: unknown
  headers?: readonly HeaderName[]
  empty?: true
}

export interface RouteDescription {
  /** The operationId: no tool's name has a dot in it. */
  id: string
  tag: keyof typeof tags
  summary: string
  description?: string
  /** Statuses of errors beside those that every route has. */
  errors?: readonly number[]
  answers: Readonly<Record<number, AnswerDescription>>
  headers?: readonly HeaderName[]
  /** Where the route's own check reads the query. */
  query?: TSchema
  /** The body is a file of this media type. */
  file?: string
  /** An example of the body. */
  body?: unknown
}
