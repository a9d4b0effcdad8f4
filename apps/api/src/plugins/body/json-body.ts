import { asError, HttpError, isRecord, limits, readJsonInTurns } from '@toolyard/contract'
import { createCapture, nextTurn } from '@toolyard/runtime'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import fp from 'fastify-plugin'
import { ownerKind, type Principal } from '../../access/principal.ts'
import { HeldBytes } from '../load/held-bytes.ts'
import { excessOf, poisoned, problemOf, syntaxError } from './json-text.ts'

/**
 * Bytes of the bodies of one owner's requests that are not answered yet: a body that comes slowly is in memory, and so is what was read
 * of one while its request waits. They are counted in steps; each object, list and named field takes some more.
 */
const mostOpen = 128 * 1_024 * 1_024
const stepBytes = 16_384
const partBytes = 64
/** A request without a key is a login: its body is a key. In bytes. */
const mostWithoutKey = 16_384

declare module 'fastify' {
  interface FastifyRequest {
    /** Bytes of its JSON; 0 where there was none. */
    bodyBytes: number
    /** A message of a provider has arguments with a key that nothing takes: only their call is refused. */
    isPoisoned: boolean
    /** What its body takes, until the request is answered. */
    openBody: OpenBody | null
  }
  interface FastifyContextConfig {
    /** The OpenAPI document says that the body may be left out. */
    bodyOptional?: boolean
    /** The body holds arguments of calls: one with a number that nothing holds is refused by itself, as others that don't fit. */
    holdsArguments?: boolean
    /** The body may be a message of a provider: what a model has written into a call is refused with that call. */
    holdsMessages?: boolean
  }
}

/**
 * Bodies are JSON or nothing, have no more parts than can be read in a moment, nest no deeper than a serializer can follow, and
 * hold no number that would become null and no key that merging code takes for a prototype. A body without a byte is none,
 * whatever the content type says: many clients send one with each request.
 */
export const jsonBody = fp(async (app: FastifyInstance) => {
  app.decorateRequest('bodyBytes', 0)
  app.decorateRequest('isPoisoned', false)
  app.decorateRequest('openBody', null)
  const open = new HeldBytes(mostOpen)
  app.removeAllContentTypeParsers()
  app.addHook('onRequest', async ({ headers }) => {
    if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) delete headers['content-type']
  })
  app.addHook('preParsing', (request, { raw }, payload, done) => {
    if (request.headers['content-type'] !== undefined) request.openBody = openBodyOf(open, request.principal, raw)
    done(null, payload)
  })
  app.addContentTypeParser('application/json', async (request: FastifyRequest, payload: IncomingMessage) => {
    // A route that isn't there has looked for no key, and needs no body.
    if (request.is404) return undefined
    const { principal, openBody } = request
    const bytes = await readBody(payload, principal === null ? mostWithoutKey : limits.bodyBytes, openBody)
    request.bodyBytes = bytes.length
    // Other bytes would become U+FFFD, and a tool would write or send what nobody meant.
    if (!isUtf8(bytes)) throw refused('is not UTF-8: send JSON in UTF-8, and not compressed')
    const text = bytes.toString()
    if (text === '') return undefined
    const { body, parts } = await parsed(text.replace(/^\ufeff/, ''))
    const refusal = openBody?.count(bytes.length + parts * partBytes)
    if (refusal !== undefined) throw refusal
    // Each step on a large body takes its time.
    const takesTurns = text.length > turnChars
    if (takesTurns) await nextTurn()
    const { holdsArguments: largeNumbers, holdsMessages } = request.routeOptions.config
    const first = problemOf(body, limits.bodyDepth, { largeNumbers })
    request.isPoisoned = first === poisoned && holdsMessages === true && mayBeMessage(body)
    const problem = request.isPoisoned ? problemOf(body, limits.bodyDepth, { largeNumbers, poison: true }) : first
    if (problem !== undefined) throw refused(problem)
    if (takesTurns) await nextTurn()
    return body
  })
}, { name: 'json-body' })

/** Toolyard's own form is written by programs. */
function mayBeMessage (body: unknown): boolean {
  return isRecord(body) && !Object.hasOwn(body, 'calls') && !Object.hasOwn(body, '__proto__')
}

/** UTF-16 units of a body that takes a turn of the event loop by itself. */
const turnChars = 65_536
/** A body, and how many parts it has; those of a small one aren't counted. */
async function parsed (text: string): Promise<{ body: unknown, parts: number }> {
  const parts = text.length >= stepBytes ? excessOf(text, limits.bodyParts, limits.bodyDepth) : 0
  if (typeof parts === 'string') throw refused(parts)
  try {
    return { body: await readJsonInTurns(text, nextTurn), parts }
  } catch (error) {
    throw refused(`is not valid JSON: ${syntaxError(asError(error))}`)
  }
}

/** @param problem the end of a sentence. */
function refused (problem: string): HttpError {
  return new HttpError('VALIDATION_ERROR', `Request body ${problem}`)
}

interface OpenBody {
  /** Takes the bytes so far. Gives the error where the owner has too many. */
  count: (bytes: number) => HttpError | undefined
}

/** Counts a body for its owner until the request is answered, or its client has gone. */
function openBodyOf (open: HeldBytes, principal: Principal | null | undefined, answer: ServerResponse): OpenBody | null {
  if (principal == null) return null
  const held: Array<() => void> = []
  let counted = 0
  answer.once('close', () => { for (const letGo of held) letGo() })
  return {
    count (bytes) {
      const more = bytes - counted
      if (more < stepBytes || answer.closed) return undefined
      if (!open.hasRoom(principal, more)) {
        return new HttpError('RATE_LIMITED', `The bodies that this ${ownerKind(principal)} is sending, or waits for the answers to, leave no room for another: they may have ${mostOpen} bytes. Send fewer at a time`)
      }
      held.push(open.hold(principal, more))
      counted = bytes
      return undefined
    }
  }
}

/** Reads a body. @throws HttpError when it is longer than `mostBytes`, or ends before its end; what `count` gives. */
async function readBody (payload: IncomingMessage, mostBytes: number, open: OpenBody | null): Promise<Buffer> {
  const tooLarge = (): HttpError => new HttpError('PAYLOAD_TOO_LARGE', `The request body is larger than ${mostBytes} bytes`)
  const most = Number(payload.headers['content-length'] ?? mostBytes)
  if (most > mostBytes) throw tooLarge()
  const body = createCapture(most)
  return await new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      payload.off('data', onData).off('end', onEnd).off('error', onError)
      settle()
    }
    const onData = (piece: Buffer): void => {
      body.add(piece)
      const bytes = body.totalBytes()
      if (bytes > most) return end(() => { reject(tooLarge()) })
      // What takes a body in doubles when it is full.
      const refusal = open?.count(Math.min(2 * bytes, most))
      if (refusal !== undefined) end(() => { reject(refusal) })
    }
    const onEnd = (): void => { end(() => { resolve(body.read().kept) }) }
    const onError = (error: Error): void => { end(() => { reject(Object.assign(error, { statusCode: 400 })) }) }
    payload.on('data', onData).on('end', onEnd).on('error', onError)
  })
}
