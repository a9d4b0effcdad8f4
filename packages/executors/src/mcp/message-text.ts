import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { Buffer } from 'node:buffer'
import { around, holdsWritten, isRecord, isWritten, numberText, storedJson, writeThrough } from '@toolyard/contract/terms'

/** The JSON of a message, with the numbers of a call's arguments and of answers as they were written. */
export function messageText (message: JSONRPCMessage): string {
  return hasWritten(message) ? writeThrough(message) : JSON.stringify(message)
}

/** Whether the client, which writes messages itself, would write this one otherwise. */
export function hasWritten (message: JSONRPCMessage): boolean {
  if ('result' in message) return holdsWritten(message.result)
  return 'method' in message && (isWritten(message.params?.['arguments']) || isWritten(message.params?.['inputResponses']))
}

/** Messages on their way over HTTP, where the client writes them, by what it writes; and answers, of which it makes copies. */
export class WrittenTexts {
  readonly #texts = new Map<string, string>()
  readonly #answers = new Map<unknown, Record<string, unknown>>()

  async during (message: JSONRPCMessage, send: () => Promise<void>): Promise<void> {
    const json = JSON.stringify(message)
    this.#texts.set(json, messageText(message))
    await send().finally(() => { this.#texts.delete(json) })
  }

  of (json: string): string {
    return this.#texts.get(json) ?? json
  }

  /** Keeps what a request of the server is answered with until that is sent. The client refuses members that no JSON has. */
  answer (id: unknown, answer: Record<string, unknown>): Record<string, unknown> {
    if (!isWritten(answer)) return answer
    this.#answers.set(id, answer)
    return storedJson(JSON.stringify(answer))
  }

  /** A message with the answer that was kept for it. */
  whole (message: JSONRPCMessage): JSONRPCMessage {
    if (!('result' in message)) return message
    const answer = this.#answers.get(message.id)
    this.#answers.delete(message.id)
    return answer === undefined ? message : { ...message, result: around({ ...message.result, ...answer }) }
  }
}

/** What may stand in the name of a header. */
const headerToken = /^[\w!#$%&'*+.^`|~-]+$/
/** What may stand in its value as it is: no white space at its ends, and nothing that looks encoded. */
const plainValue = /^(?!=\?base64\?.*\?=$)[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/

/**
 * The headers that a server of 2026 compares with the arguments of a call: those that properties of the tool's schema name by
 * `x-mcp-header`.
 */
export function argumentHeaders (schema: unknown, args: Record<string, unknown>): Record<string, string> {
  const headers: Record<string, string> = {}
  const add = (schema: unknown, value: unknown, written?: string): void => {
    if (!isRecord(schema)) return
    const { 'x-mcp-header': name, properties } = schema
    const text = typeof name === 'string' && headerToken.test(name) ? headerText(value, written) : undefined
    if (text !== undefined) headers[`Mcp-Param-${String(name)}`] = plainValue.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
    if (!isRecord(properties) || !isRecord(value)) return
    for (const [key, inner] of Object.entries(properties)) if (Object.hasOwn(value, key)) add(inner, value[key], numberText(value, key))
  }
  add(schema, args)
  return headers
}

/** Undefined for what no header carries. */
function headerText (value: unknown, written: string | undefined): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : written ?? String(value)
  return typeof value === 'string' || typeof value === 'boolean' ? String(value) : undefined
}
