import { ErrorBody, JobLogsResponse, readTail, type LogEntry } from '@toolyard/contract'
import type { JobLogs, JobReader } from '@toolyard/queue'
import { Readable } from 'node:stream'
import { Type } from '@toolyard/contract/type'
import { nextTurn } from '@toolyard/runtime'
import { countAnswer } from '../../plugins/load/unsent-answers.ts'
import type { App } from '../../plugins/typed-app.ts'
import { queueOfJob } from './found-job.ts'
import { principalOf } from '../../access/principal.ts'

export async function jobLogRoutes (app: App, { jobs, logs }: { jobs: JobReader, logs: JobLogs }): Promise<void> {
  app.get('/jobs/:id/logs', {
    schema: {
      params: Type.Object({ id: Type.String() }),
      querystring: Type.Object({ tail: Type.Optional(Type.Unknown({ description: 'How many lines: an integer 1..2000, 200 when absent.' })) }),
      response: { 200: JobLogsResponse, '4xx': ErrorBody, '5xx': ErrorBody }
    }
  }, async (request, reply) => {
    const tail = readTail(request.query.tail)
    const { id } = request.params
    const queue = await queueOfJob(jobs, id, principalOf(request))
    const entries = await logs.tail(queue, id, tail)
    const refused = countAnswer(reply, bytesOf(entries))
    if (refused !== undefined) throw refused
    // eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The stream is the text that the schema describes.
    return await reply.header('content-type', 'application/json; charset=utf-8').send(Readable.from(pieces(entries)) as never)
  })
}

/** What a line takes beside its message, about. */
const lineBytes = 256

/** What the lines take until they are sent. */
function bytesOf (entries: readonly LogEntry[]): number {
  const metaChars = (meta: LogEntry['meta']): number => meta === null ? 0 : JSON.stringify(meta).length
  return entries.reduce((sum, { message, meta }) => sum + lineBytes + Buffer.byteLength(message) + metaChars(meta), 0)
}

/** Lines that are written in one turn of the event loop: with every character escaped, all lines of a log are 50 MB. */
const linesPerPiece = 64

/** `JobLogsResponse` as text. */
async function * pieces (entries: readonly LogEntry[]): AsyncGenerator<string> {
  yield '{"ok":true,"logs":['
  for (let at = 0; at < entries.length; at += linesPerPiece) {
    yield `${at === 0 ? '' : ','}${JSON.stringify(entries.slice(at, at + linesPerPiece)).slice(1, -1)}`
    await nextTurn()
  }
  yield `],"count":${entries.length}}`
}
