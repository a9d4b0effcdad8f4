import { HttpError, limits } from '@toolyard/contract'
import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/** Bodies are JSON or nothing, and nest no deeper than a serializer can follow. */
export const jsonBody = fp(async (app: FastifyInstance) => {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, text, done) => {
    void parse(request, text as string, (error, body) => {
      if (error !== null) done(text === '' ? error : new HttpError('VALIDATION_ERROR', `Request body is not valid JSON: ${position(error.message)}`))
      else if (nestsDeeper(body, limits.bodyDepth)) done(new HttpError('VALIDATION_ERROR', `Request body nests deeper than ${limits.bodyDepth} levels`))
      else done(null, body)
    })
  })
}, { name: 'json-body' })

/** The parser's words without the part of the body that they quote. */
function position (message: string): string {
  return message.replace(/[,:]? ?(?:"[\s\S]*"|\.\.\.[\s\S]*) is not valid JSON$/, '')
}

function nestsDeeper (value: unknown, levels: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; depth <= levels; depth++) {
    level = level.flatMap(item => typeof item === 'object' && item !== null ? Object.values(item) as unknown[] : [])
    if (level.length === 0) return false
  }
  return true
}
