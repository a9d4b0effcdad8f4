import { HttpError } from '@toolyard/contract'
import { jobJson, type JobReader, type ReadJob } from '@toolyard/queue'
import { jobIdPattern } from '@toolyard/store'
import type { FastifyReply } from 'fastify'
import { scopeOf, type Principal } from '../../access/principal.ts'

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
 * The queue of a job that a key may see.
 *
 * @throws HttpError `NOT_FOUND`; RedisUnavailableError.
 */
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
  return await sendJson(reply, `{"ok":true,"job":${jobJson(job)}${Object.entries(rest).map(([name, value]) => `,"${name}":${JSON.stringify(value)}`).join('')}}`)
}

/** Answers with what is JSON already. */
export async function sendJson (reply: FastifyReply, json: string): Promise<never> {
  // A text would be taken for a value that is to be written as JSON.
  return await reply.header('content-type', 'application/json; charset=utf-8').send(Buffer.from(json))
}
