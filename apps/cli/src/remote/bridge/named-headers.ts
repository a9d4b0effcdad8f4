import { argumentHeaders, isRecord } from '@toolyard/contract/terms'
import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import type { KeptNumbers } from './kept-numbers.ts'

/** Over HTTP, calls of 2026 have headers for arguments whose schemas name one. Clients that speak to a program send none. */
export class NamedHeaders {
  readonly #numbers: KeptNumbers
  readonly #schemas = new Map<string, unknown>()

  constructor (numbers: KeptNumbers) {
    this.#numbers = numbers
  }

  /** Notes the schemas in a list of tools. */
  hear (message: JSONRPCMessage): void {
    const tools: unknown = 'result' in message ? message.result['tools'] : undefined
    for (const { name, inputSchema } of Array.isArray(tools) ? tools.filter(isRecord) : []) {
      if (typeof name !== 'string') continue
      if (JSON.stringify(inputSchema)?.includes('"x-mcp-header"') === true) this.#schemas.set(name, inputSchema)
      else this.#schemas.delete(name)
    }
  }

  /** For a call; none where its tool was not listed yet. */
  of (params: Record<string, unknown> | undefined): Record<string, string> {
    const { name, arguments: args } = params ?? {}
    const schema = this.#schemas.get(String(name))
    if (schema === undefined || !isRecord(args)) return {}
    return Object.fromEntries(Object.entries(argumentHeaders(schema, args)).map(([header, text]) => {
      const written = this.#numbers.restored(`"${text}"`)
      return [header, written.startsWith('"') ? text : written]
    }))
  }
}
