import underPressure from '@fastify/under-pressure'
import { HttpError } from '@toolyard/contract'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/** How often the delay of the event loop is looked at, in milliseconds. */
const sampleMs = 250

/**
 * Answers 503 with `Retry-After` while the event loop is late by more than `maxDelayMs`: requests that are let in are
 * answered in time, the others elsewhere or later.
 */
export const pressure = fp<{ maxDelayMs: number }>(async (app: FastifyInstance, { maxDelayMs }) => {
  await app.register(underPressure, {
    maxEventLoopDelay: maxDelayMs,
    sampleInterval: sampleMs,
    pressureHandler: () => { throw new HttpError('UNAVAILABLE', 'This API process has more to do than it can; try again') }
  })
}, { name: 'pressure' })
