import { randomUUID } from 'node:crypto'
import { isRecord, isWritten, numberText, readJson } from '@toolyard/contract'

/** What stands in an id that the protocol's own code would round, and in an output whose JSON it would write otherwise. */
const idMark = 'toolyard number '
const outputMark = 'toolyard/written'

/**
 * Numbers of one body, and of its answers, that JavaScript can't hold. The protocol's own code copies what it reads and writes
 * it anew, so they go around it: ids as texts, arguments and outputs beside the messages.
 */
export class WrittenParts {
  readonly #arguments = new Map<unknown, Record<string, unknown>>()
  readonly #outputs = new Map<string, string>()
  #hasIds = false
  /** The body that the protocol's own code reads. */
  readonly body: unknown

  constructor (body: unknown) {
    // The protocol's own code refuses members that no JSON has.
    this.body = isWritten(body) ? JSON.parse(JSON.stringify(this.#plain(body))) : body
  }

  /** The arguments of a call as they were written; undefined where JavaScript writes them so. */
  argumentsOf (id: unknown): Record<string, unknown> | undefined {
    return this.#arguments.get(id)
  }

  /** What stands for an output until it is sent: its value, where JavaScript writes that in the same way. */
  output (json: string): unknown {
    const value = readJson(json)
    if (!isWritten(value)) return value
    const id = randomUUID()
    this.#outputs.set(`{"${outputMark}":"${id}"}`, json)
    return { [outputMark]: id }
  }

  /** An answer, or a part of it, as it is sent. */
  restored (text: string): string {
    let restored = text
    for (const [mark, json] of this.#outputs) restored = restored.split(mark).join(json)
    return this.#hasIds ? restored.replaceAll(/"toolyard number (-?[\d.eE+-]+)"/g, '$1') : restored
  }

  /** Whether an answer is sent as it is. */
  get isEmpty (): boolean {
    return this.#outputs.size === 0 && !this.#hasIds
  }

  #plain (message: unknown): unknown {
    if (!isRecord(message)) return message
    const { params } = message
    const id = this.#id(message, 'id')
    const args = isRecord(params) ? params['arguments'] : undefined
    if (isRecord(args) && isWritten(args)) this.#arguments.set(id, args)
    const request = isRecord(params) ? this.#id(params, 'requestId') : undefined
    return {
      ...message,
      ...(id === undefined ? {} : { id }),
      ...(request === undefined || !isRecord(params) ? {} : { params: { ...params, requestId: request } })
    }
  }

  #id (container: Record<string, unknown>, name: string): unknown {
    const value = container[name]
    const text = typeof value === 'number' && !Number.isSafeInteger(value) ? numberText(container, name) : undefined
    if (text === undefined) return value
    this.#hasIds = true
    return `${idMark}${text}`
  }
}
