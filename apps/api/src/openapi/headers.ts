import { limits } from '@toolyard/contract'
import type { HeaderName } from './descriptions/route-description.ts'

interface Header {
  description: string
  schema: object
}

const string = { type: 'string' }

const answerHeaders: Readonly<Record<string, Header>> = {
  'x-request-id': { description: 'Names the request; the log has it as reqId.', schema: { type: 'string', format: 'uuid' } },
  'Retry-After': { description: 'After how many seconds the request may be sent again.', schema: { type: 'integer', minimum: 1 } },
  ETag: { description: 'Names this version of the answer.', schema: string },
  'Content-Range': { description: 'Which bytes of the file these are.', schema: string },
  Location: { description: 'The path of the job.', schema: { type: 'string', format: 'uri-reference' } },
  'x-toolyard-job-id': { description: 'The id of the job.', schema: { type: 'string', format: 'uuid' } },
  'x-toolyard-output-bytes': {
    description: 'How many bytes the tool wrote, where that was more than is kept: the answer is then a string with what was kept.',
    schema: { type: 'integer' }
  }
}

const requestHeaders: Readonly<Record<string, Header>> = {
  'Idempotency-Key': {
    description: 'The same request with the same key is done once, and has the same answer.',
    schema: { type: 'string', pattern: `^[\\x21-\\x7e]{1,${limits.idempotencyKeyLength}}$` }
  },
  'If-None-Match': {
    description: 'The ETag of the version that the caller has: where it is still that, the answer is a 304.',
    schema: string
  },
  'If-Match': { description: 'The ETag of the file that is to be changed: where it is another one by now, the answer is a 412.', schema: string },
  'If-Range': { description: 'The ETag of the file that the range is of: where it is another one by now, the answer is the whole file.', schema: string },
  Range: { description: 'The bytes that are asked for, such as `bytes=0-99`.', schema: string },
  'Last-Event-ID': { description: 'Resume after this line of the log.', schema: string }
}

export function headerReferences (names: readonly HeaderName[] = []): object {
  return Object.fromEntries(['x-request-id', ...names].map(name => [name, { $ref: `#/components/headers/${name}` }]))
}

export function headerParameter (name: HeaderName): object {
  return { $ref: `#/components/parameters/${name}` }
}

/** The headers of answers as components: all, or those of these names. */
export function answerComponents (names: readonly string[] = Object.keys(answerHeaders)): Record<string, object> {
  return Object.fromEntries(Object.entries(answerHeaders).filter(([name]) => names.includes(name)))
}

/** The headers of requests as components: all, or those of these names. */
export function headerParameters (names: readonly string[] = Object.keys(requestHeaders)): Record<string, object> {
  return Object.fromEntries(Object.entries(requestHeaders).filter(([name]) => names.includes(name)).map(([name, header]) => [
    name,
    { name, in: 'header', ...header }
  ]))
}
