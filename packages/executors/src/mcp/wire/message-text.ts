import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { around, holdsWritten, isWritten, storedJson, writeThrough } from '@toolyard/contract/terms'

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
