import { HttpError, limits } from '@toolyard/contract'
import { errorCodes, type FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'

/**
 * Bodies are JSON or nothing, nest no deeper than a serializer can follow, and hold no number that would become null and
 * no key that merging code takes for a prototype (fault 32).
 */
export const jsonBody = fp(async (app: FastifyInstance) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => {
    if (text === '') return done(new errorCodes.FST_ERR_CTP_EMPTY_JSON_BODY())
    try {
      done(null, bodyOf((text as string).replace(/^\ufeff/, '')))
    } catch (error) {
      done(new HttpError('VALIDATION_ERROR', `Request body ${(error as Error).message}`))
    }
  })
}, { name: 'json-body' })

/** @throws Error with what is wrong, as the end of a sentence. */
function bodyOf (text: string): unknown {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (error) {
    throw new Error(`is not valid JSON: ${position((error as Error).message)}`)
  }
  const problem = problemOf(body, limits.bodyDepth)
  if (problem !== undefined) throw new Error(problem)
  return body
}

/** The parser's words without the part of the body that they quote. */
function position (message: string): string {
  return message.replace(/[,:]? ?(?:"[\s\S]*"|\.\.\.[\s\S]*) is not valid JSON$/, '')
}

function problemOf (value: unknown, levels: number): string | undefined {
  let level: unknown[] = [value]
  for (let depth = 0; depth <= levels; depth++) {
    if (level.some(item => item === Infinity || item === -Infinity)) return 'holds a number that is too large'
    const objects = level.filter((item): item is object => typeof item === 'object' && item !== null)
    if (objects.some(mayPoison)) return 'holds a key __proto__, or constructor with prototype in it, which nothing here takes'
    level = objects.flatMap(item => Object.values(item) as unknown[])
    if (level.length === 0) return undefined
  }
  return `nests deeper than ${levels} levels`
}

function mayPoison (item: object): boolean {
  if (Object.hasOwn(item, '__proto__')) return true
  const inner = Object.hasOwn(item, 'constructor') ? item.constructor as unknown : undefined
  return typeof inner === 'object' && inner !== null && Object.hasOwn(inner, 'prototype')
}
