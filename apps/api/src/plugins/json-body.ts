import { HttpError, limits } from '@toolyard/contract'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/** Bodies are JSON or nothing, nest no deeper than a serializer can follow, and hold no number that would become null. */
export const jsonBody = fp(async (app: FastifyInstance) => {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    void parse(request, text as string, (error, body) => {
      if (error !== null) done(text === '' ? error : new HttpError('VALIDATION_ERROR', `Request body is not valid JSON: ${position(error.message)}`))
      else {
        const problem = problemOf(body, limits.bodyDepth)
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

function problemOf (value: unknown, levels: number): string | undefined {
  let level: unknown[] = [value]
  for (let depth = 0; depth <= levels; depth++) {
    if (level.some(item => item === Infinity || item === -Infinity)) return 'holds a number that is too large'
    level = level.flatMap(item => typeof item === 'object' && item !== null ? Object.values(item) as unknown[] : [])
    if (level.length === 0) return undefined
  }
  return `nests deeper than ${levels} levels`
}
