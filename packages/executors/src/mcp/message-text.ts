import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { around, isWritten, writeJson } from '@toolyard/contract/terms'

/** The JSON of a message, with the numbers of a call's arguments as they were written. */
export function messageText (message: JSONRPCMessage): string {
  if (!hasWritten(message)) return JSON.stringify(message)
  return writeJson(around({ ...message, params: around({ ...message.params }) }))
}

/** Whether the client, which writes messages itself, would write this one otherwise. */
export function hasWritten (message: JSONRPCMessage): message is Extract<JSONRPCMessage, { method: string }> {
  return 'method' in message && isWritten(message.params?.['arguments'])
}

/** Messages on their way over HTTP, where the client writes them: by what it writes. */
export class WrittenTexts {
  readonly #texts = new Map<string, string>()

  async during (message: JSONRPCMessage, send: () => Promise<void>): Promise<void> {
    const json = JSON.stringify(message)
    this.#texts.set(json, messageText(message))
    await send().finally(() => { this.#texts.delete(json) })
  }

  of (json: string): string {
    return this.#texts.get(json) ?? json
  }
}
