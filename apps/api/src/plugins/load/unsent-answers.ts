import { HttpError } from '@toolyard/contract'
import type { FastifyInstance, FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { ownerKind, type Principal } from '../../access/principal.ts'
import { HeldBytes } from './held-bytes.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Answers that are on their way to their clients, or are not read by them. */
    unsent: HeldBytes
    /** What was read for answers that are not made yet. */
    unfinished: HeldBytes
  }
}

/** Smaller answers are not counted. */
const largeBytes = 65_536
/** Bytes of the large answers that one owner may have on their way: who reads slowly, or not at all, has them in memory. */
const mostBytes = 128 * 1_024 * 1_024
/** What a call by itself is answered with is smaller. It has run, so it may go beyond, where many wait at once not without end. */
const callBytes = 2 * 1_024 * 1_024
const utmostBytes = 2 * mostBytes
/** Bytes of outputs that were read for answers of one owner that are not made yet: an answer has each twice. */
const mostUnfinished = mostBytes / 2
/** While less is left, no work is begun: its answer might find no room. */
const roomBytes = 16 * 1_024 * 1_024

/** Answers 429 to requests that make work, of a tenant or key whose answers nobody reads, before their bodies are read. */
export const unsentAnswers = fp(async (app: FastifyInstance) => {
  app.decorate('unsent', new HeldBytes(mostBytes))
  app.decorate('unfinished', new HeldBytes(mostUnfinished))
  // After the hooks that know the key.
  app.addHook('preParsing', async ({ principal, routeOptions }) => {
    if (principal === null || routeOptions.config.makesWork !== true || app.unsent.hasRoom(principal, roomBytes)) return
    throw new HttpError('RATE_LIMITED', unread(principal))
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    const bytes = typeof payload === 'string' || Buffer.isBuffer(payload) ? Buffer.byteLength(payload) : 0
    const refused = countAnswer(reply, bytes)
    if (refused === undefined) done(null, payload)
    else done(refused)
  })
}, { name: 'unsent-answers' })

/**
 * Counts an answer until it has left. What is sent as one text is counted by itself.
 *
 * @returns the error to answer with where its owner has too many: for a call or batch, which may have run, it has `may_exist`.
 */
export function countAnswer (reply: FastifyReply, bytes: number): HttpError | undefined {
  const refused = refusalOf(reply, bytes)
  if (refused === undefined) holdAnswer(reply, bytes)
  return refused
}

/** The error where the owner of an answer, or of a frame of one, has too many that are not read. */
export function refusalOf ({ request: { principal, method }, server: { unsent } }: Answered, bytes: number): HttpError | undefined {
  if (bytes < largeBytes || principal === null || principal === undefined || unsent.hasRoom(principal, bytes)) return undefined
  if (method === 'GET') return new HttpError('RATE_LIMITED', unread(principal))
  if (bytes <= callBytes && unsent.hasRoom(principal, bytes, utmostBytes)) return undefined
  return new HttpError('UNAVAILABLE', `${unread(principal)}. What was asked for is done: its jobs tell of it`, { may_exist: true })
}

/** Counts what is sent until it has left, or until the result is called. */
export function holdAnswer ({ request: { principal, raw: { socket } }, raw, server: { unsent } }: Answered, bytes: number): () => void {
  // A client that is gone doesn't go again.
  if (bytes < largeBytes || principal === null || principal === undefined || raw.destroyed || socket.destroyed) return () => {}
  const letGo = unsent.hold(principal, bytes)
  const left = (): void => {
    letGo()
    raw.off('close', left)
    socket.off('close', left)
  }
  raw.once('close', left)
  // An answer behind others of its connection may never have a close of its own.
  socket.once('close', left)
  return left
}

/** What was read for the answer of one request, until that is made or sent: other calls of its batch may go on for long. */
export class AnswerRoom {
  readonly #unfinished: HeldBytes
  readonly #principal: Principal
  #held: Array<() => void> = []

  constructor (unfinished: HeldBytes, principal: Principal) {
    this.#unfinished = unfinished
    this.#principal = principal
  }

  /** Takes room for what is read. @throws HttpError `UNAVAILABLE` where the owner has none. */
  take (bytes: number): void {
    if (!this.#unfinished.hasRoom(this.#principal, bytes)) {
      throw new HttpError('UNAVAILABLE', `The answers that this ${ownerKind(this.#principal)} waits for leave no room for more: what was read for them may have ${mostUnfinished} bytes`)
    }
    this.#held.push(this.#unfinished.hold(this.#principal, bytes))
  }

  /** The answer is made, or there will be none. */
  letGo (): void {
    for (const letGo of this.#held) letGo()
    this.#held = []
  }
}

/** Room for the answer of a request, which is free again when that has left, at the latest. */
export function answerRoom (app: FastifyInstance, { raw }: FastifyReply, principal: Principal): AnswerRoom {
  const room = new AnswerRoom(app.unfinished, principal)
  raw.once('close', () => { room.letGo() })
  return room
}

/** As much of a reply as counting it takes. Pages for everybody have no key. */
export interface Answered {
  request: { principal: Principal | null | undefined, method: string, raw: Pick<FastifyReply['request']['raw'], 'socket'> }
  raw: FastifyReply['raw']
  server: { unsent: HeldBytes }
}

function unread (principal: Principal): string {
  return `The answers that this ${ownerKind(principal)} has not read leave no room for another: they may have ${mostBytes} bytes. Read them, or close their connections`
}
