import { randomUUID } from 'node:crypto'
import { isRecord, isWritten, numberText, readJson } from '@toolyard/contract'

/** Marks an id that the protocol's own code would round, and a value whose JSON it would write otherwise. */
const idMark = 'toolyard number '
const outputMark = 'toolyard/written'

/**
 * Parts that go around the protocol's own code, which copies what it reads and writes it anew: the arguments of a tool and what a
 * person has said, since schemas of the tool's own judge them, and numbers that JavaScript can't hold: ids as texts, outputs
 * beside the messages.
 */
export class WrittenParts {
  readonly #arguments = new Map<unknown, Record<string, unknown>>()
  readonly #responses = new Map<unknown, Record<string, unknown>>()
  readonly #outputs = new Map<string, string>()
  #hasIds = false
  /** The body that the protocol's own code reads. */
  readonly body: unknown

  constructor (body: unknown) {
    // The protocol's own code refuses members that no JSON has.
    const plain = this.#plain(body)
    this.body = isWritten(plain) ? JSON.parse(JSON.stringify(plain)) : plain
  }

  argumentsOf (id: unknown): Record<string, unknown> | undefined {
    return this.#arguments.get(id)
  }

  /** Answers that the client brings along for questions. */
  responsesOf (id: unknown): Record<string, unknown> | undefined {
    return this.#responses.get(id)
  }

  /** Stands for an output until it is sent: its value, where JavaScript writes that in the same way. */
  output (json: string): unknown {
    return this.value(readJson(json), json)
  }

  /** The same for any value of an answer. */
  value (value: unknown, json: string): unknown {
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
    if (!isRecord(params)) return { ...message, ...(id === undefined ? {} : { id }) }
    const args = message['method'] === 'tools/call' ? params['arguments'] : undefined
    if (isRecord(args)) this.#arguments.set(id, args)
    if (isRecord(params['inputResponses'])) this.#responses.set(id, params['inputResponses'])
    const request = this.#id(params, 'requestId')
    const meta = isRecord(params['_meta']) ? params['_meta'] : {}
    const token = this.#id(meta, 'progressToken')
    const rest = {
      ...(token === meta['progressToken'] ? {} : { _meta: { ...meta, progressToken: token } }),
      ...(isRecord(args) ? { arguments: comparable(args, { values: mostCompared }) } : {}),
      ...(request === undefined ? {} : { requestId: request })
    }
    return { ...message, ...(id === undefined ? {} : { id }), params: { ...params, ...rest } }
  }

  #id (container: Record<string, unknown>, name: string): unknown {
    const value = container[name]
    const text = typeof value === 'number' && !Number.isSafeInteger(value) ? numberText(container, name) : undefined
    if (text === undefined) return value
    this.#hasIds = true
    return `${idMark}${text}`
  }
}

/** Values of arguments that the protocol's own code sees: it compares some of them with headers, and copies all. */
const mostCompared = 1_000

/** The first of the values that headers may repeat: texts, numbers and the like, also in objects. */
function comparable (args: Record<string, unknown>, room: { values: number }): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  for (const name in args) {
    if (room.values-- <= 0) break
    const value = args[name]
    if (isRecord(value)) kept[name] = comparable(value, room)
    else if (!Array.isArray(value)) kept[name] = value
  }
  return kept
}
