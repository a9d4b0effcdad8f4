import { HttpError, limits } from '@toolyard/contract'
import { errorCodes, type FastifyInstance } from 'fastify'
import type { IncomingMessage } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import fp from 'fastify-plugin'
import { readText } from './body-text.ts'

/**
 * Bodies are JSON or nothing, have no more parts than can be read in a moment, nest no deeper than a serializer can follow, and hold no number that would become null and
 * no key that merging code takes for a prototype (fault 32).
 */
export const jsonBody = fp(async (app: FastifyInstance) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', async (_request: unknown, payload: IncomingMessage) => {
    const text = await readText(payload, limits.bodyBytes)
    if (text === '') throw new errorCodes.FST_ERR_CTP_EMPTY_JSON_BODY()
    try {
      const body = bodyOf(text.replace(/^\ufeff/, ''))
      // What follows takes its time too.
      if (text.length > turnChars) await turn()
      return body
    } catch (error) {
      throw new HttpError('VALIDATION_ERROR', `Request body ${(error as Error).message}`)
    }
  })
}, { name: 'json-body' })

/** UTF-16 units of a body that takes a turn of the event loop by itself. */
const turnChars = 65_536
const tooDeep = `nests deeper than ${limits.bodyDepth} levels`

/** @throws Error with what is wrong, as the end of a sentence. */
function bodyOf (text: string): unknown {
  const excess = excessOf(text)
  if (excess !== undefined) throw new Error(excess)
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

/** Counted before the text is parsed, since that is what takes its time. Of a text that is no JSON the count may be wrong. */
function excessOf (text: string): string | undefined {
  const { bodyParts: most, bodyDepth } = limits
  if (text.length <= most) return undefined
  for (let at = 0, parts = 0, depth = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '"') at = endOfString(text, at)
    else if (char === ']' || char === '}') depth -= 1
    else if (char === '[' || char === '{') depth += 1
    else if (char !== ':') continue
    if (char !== '"' && char !== ']' && char !== '}') parts += 1
    // An empty list in the last level is let through by who looks at the values.
    if (depth > bodyDepth + 1) return tooDeep
    if (parts > most) return `holds more than ${most} objects, lists and fields`
  }
  return undefined
}

function endOfString (text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}

function problemOf (value: unknown, levels: number): string | undefined {
  if (value === Infinity || value === -Infinity) return 'holds a number that is too large'
  if (typeof value !== 'object' || value === null) return undefined
  if (mayPoison(value)) return 'holds a key __proto__, or constructor with prototype in it, which nothing here takes'
  const items: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  if (levels === 0 && items.length > 0) return tooDeep
  for (const item of items) {
    const problem = problemOf(item, levels - 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

function mayPoison (item: object): boolean {
  if (Object.hasOwn(item, '__proto__')) return true
  const inner = Object.hasOwn(item, 'constructor') ? item.constructor as unknown : undefined
  return typeof inner === 'object' && inner !== null && Object.hasOwn(inner, 'prototype')
}
