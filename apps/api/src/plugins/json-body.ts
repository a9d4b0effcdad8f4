import { HttpError, limits } from '@toolyard/contract'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { forbiddenKey, hasForbiddenKey } from '../forbidden-key.ts'

/** Bodies are JSON or nothing, nest no deeper than a serializer can follow, and hold no number that would become null, nor a key that could change an object's nature. */
export const jsonBody = fp(async (app: FastifyInstance) => {
  const parse = app.getDefaultJsonParser('ignore', 'ignore')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    void parse(request, text as string, (error, body) => {
      if (error !== null) done(text === '' ? error : new HttpError('VALIDATION_ERROR', `Request body is not valid JSON: ${position(error.message)}`))
      else {
        const problem = problemOf(body, limits.bodyDepth) ?? keyProblem(body)
        if (problem === undefined) done(null, body)
        else done(new HttpError('VALIDATION_ERROR', `Request body ${problem}`))
      }
    })
  })
}, { name: 'json-body' })

/** The parser's words without the part of the body that they quote. */
function position (message: string): string {
  return message.replace(/[,:]? ?(?:"[\s\S]*"|\.\.\.[\s\S]*) is not valid JSON$/, '')
}

/** The arguments of a call are that call's own matter: its siblings go on. */
function keyProblem (body: unknown): string | undefined {
  const { calls, ...rest } = typeof body === 'object' && body !== null && !Array.isArray(body) ? body as Record<string, unknown> : { calls: body }
  const others = Array.isArray(calls) ? calls.map((call: unknown) => typeof call === 'object' && call !== null && Object.hasOwn(call, 'arguments') ? { ...call, arguments: {} } : call) : calls
  return hasForbiddenKey([rest, others]) ? `holds the key ${forbiddenKey}, which nothing here takes` : undefined
}

function problemOf (value: unknown, levels: number): string | undefined {
  let level: unknown[] = [value]
  for (let depth = 0; depth <= levels; depth++) {
    if (level.some(item => item === Infinity || item === -Infinity)) return 'holds a number that is too large'
    level = level.flatMap(item => typeof item === 'object' && item !== null ? Object.values(item) as unknown[] : [])
    if (level.length === 0) return undefined
  }
  return `nests deeper than ${levels} levels`
}
