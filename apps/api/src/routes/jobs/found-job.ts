import { HttpError } from '@toolyard/contract'
import { isEnd } from '@toolyard/contract/terms'
import { jobJson, type JobReader, type ReadJob } from '@toolyard/queue'
import { jobIdPattern } from '@toolyard/store'
import type { FastifyReply } from 'fastify'
import { Readable } from 'node:stream'
import { scopeOf, type Principal } from '../../access/principal.ts'
import { countAnswer } from '../../plugins/load/unsent-answers.ts'

/**
 * Reads a job that a key may see. An id that can't be one names no job; another key's or tenant's job looks the same.
 *
 * @throws HttpError `NOT_FOUND`; RedisUnavailableError.
 */
export async function findJob (jobs: JobReader, id: string, principal: Principal): Promise<ReadJob> {
  const job = jobIdPattern.test(id) ? await jobs.find(id, scopeOf(principal)) : undefined
  if (job === undefined) throw new HttpError('NOT_FOUND', 'Job not found')
  return job
}

/**
 * The same for who may wait for the job, for an hour: while it goes on it has no arguments, which may be large, and any number may wait.
 *
 * @throws as `findJob`
 */
export async function findWaited (jobs: JobReader, id: string, principal: Principal): Promise<ReadJob> {
  const { view, result } = await findJob(jobs, id, principal)
  return { view: isEnd(view.status) ? view : { ...view, input: {} }, result }
}

/** The queue of a job that a key may see. @throws HttpError `NOT_FOUND`; RedisUnavailableError. */
export async function queueOfJob (jobs: JobReader, id: string, principal: Principal): Promise<string> {
  const queue = jobIdPattern.test(id) ? await jobs.queueOf(id, scopeOf(principal)) : undefined
  if (queue === undefined) throw new HttpError('NOT_FOUND', 'Job not found')
  return queue
}

/**
 * Answers with a job and further fields. Its output goes out as the text that it is stored as: to parse a megabyte of
 * small values and write them again takes 0.2 s.
 */
export async function sendJob (reply: FastifyReply, job: ReadJob, rest: object = {}): Promise<never> {
  const end = `${Object.entries(rest).map(([name, value]) => `,"${name}":${JSON.stringify(value)}`).join('')}}`
  return await sendJson(reply, [Buffer.from('{"ok":true,"job":'), ...jobJson(job), Buffer.from(end)])
}

/** Answers with what is JSON already: as one text, or in pieces where it may be long. */
export async function sendJson (reply: FastifyReply, json: string | readonly Buffer[]): Promise<never> {
  const pieces = typeof json === 'string' ? [Buffer.from(json)] : json
  const bytes = pieces.reduce((sum, { length }) => sum + length, 0)
  const refused = bytes > atOnceBytes ? countAnswer(reply, bytes) : undefined
  if (refused !== undefined) throw refused
  // A text would be taken for a value that is to be written as JSON.
  return await reply.headers({ 'content-type': 'application/json; charset=utf-8', 'content-length': bytes })
    .send(bytes > atOnceBytes ? Readable.from(pieces, { objectMode: false }) : Buffer.concat(pieces))
}

/** More is not copied for its answer. */
const atOnceBytes = 65_536
