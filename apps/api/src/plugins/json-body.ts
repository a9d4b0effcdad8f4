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
    const body = parsed(text.replace(/^\ufeff/, ''))
    // Each step on a large body takes its time.
    const takesTurns = text.length > turnChars
    if (takesTurns) await turn()
    const problem = problemOf(body, limits.bodyDepth)
    if (problem !== undefined) throw refused(problem)
    if (takesTurns) await turn()
    return body
  })
}, { name: 'json-body' })

/** UTF-16 units of a body that takes a turn of the event loop by itself. */
const turnChars = 65_536
const tooDeep = `nests deeper than ${limits.bodyDepth} levels`

function parsed (text: string): unknown {
  const excess = excessOf(text)
  if (excess !== undefined) throw refused(excess)
  try {
    return JSON.parse(text)
  } catch (error) {
    throw refused(`is not valid JSON: ${position((error as Error).message)}`)
  }
}

/** @param problem the end of a sentence. */
function refused (problem: string): HttpError {
  return new HttpError('VALIDATION_ERROR', `Request body ${problem}`)
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
  // For a large object, Object.values takes four times as long.
  if (Array.isArray(value)) {
    if (levels === 0 && value.length > 0) return tooDeep
    for (const item of value as unknown[]) {
      const problem = problemOf(item, levels - 1)
      if (problem !== undefined) return problem
    }
    return undefined
  }
  for (const name in value) {
    if (levels === 0) return tooDeep
    const problem = problemOf((value as Record<string, unknown>)[name], levels - 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

function mayPoison (item: object): boolean {
  if (Object.hasOwn(item, '__proto__')) return true
  const inner = Object.hasOwn(item, 'constructor') ? item.constructor as unknown : undefined
  return typeof inner === 'object' && inner !== null && Object.hasOwn(inner, 'prototype')
}
