import { randomUUID } from 'node:crypto'
import { mayLoseText } from '@toolyard/contract/terms'

/**
 * Takes numbers and the order of keys through code that parses JSON and writes it anew: what JavaScript would write otherwise
 * is a text with a mark in between.
 */
export class KeptNumbers {
  readonly #mark = `toolyard-${randomUUID()}-`
  readonly #marked = new RegExp(`"${this.#mark}(?:number(-?[\\d.eE+-]+)"|key(\\d+)")`, 'g')

  /** JSON that can be parsed without a loss. */
  marked (json: string): string {
    if (!mayLoseText(json)) return json
    return json.replace(tokens, (token: string, key: string | undefined) => {
      if (key !== undefined) return token.replace(`"${key}"`, `"${this.#mark}key${key}"`)
      return token.startsWith('"') || String(Number(token)) === token ? token : `"${this.#mark}number${token}"`
    })
  }

  /** JSON that was parsed and written since, as it was. */
  restored (json: string): string {
    return json.replace(this.#marked, (_, number: string | undefined, key: string | undefined) => number ?? `"${key ?? ''}"`)
  }

  /** `fetch` for who parses what it sends and gets. */
  readonly fetch = async (url: string | URL, init?: RequestInit): Promise<Response> => {
    const body = init?.body
    const response = await fetch(url, typeof body === 'string' ? { ...init, body: this.restored(body) } : init)
    const type = response.headers.get('content-type') ?? ''
    const { status, statusText, headers } = response
    if (response.body !== null && type.startsWith('text/event-stream')) {
      return new Response(response.body.pipeThrough(this.#markedLines()), { status, statusText, headers })
    }
    if (!type.startsWith('application/json')) return response
    return new Response(this.marked(await response.text()), { status, statusText, headers })
  }

  /** A line of events is a whole JSON, with a name in front. */
  #markedLines (): TransformStream<Uint8Array, Uint8Array> {
    const [decoder, encoder] = [new TextDecoder(), new TextEncoder()]
    let pieces: string[] = []
    return new TransformStream({
      transform: (bytes, controller) => {
        const text = decoder.decode(bytes, { stream: true })
        const end = text.lastIndexOf('\n') + 1
        if (end === 0) {
          pieces.push(text)
          return
        }
        const lines = [...pieces, text.slice(0, end)].join('').split('\n')
        pieces = [text.slice(end)]
        controller.enqueue(encoder.encode(lines.map(line => line.startsWith('data:') ? this.marked(line) : line).join('\n')))
      },
      flush: controller => { controller.enqueue(encoder.encode(pieces.join('') + decoder.decode())) }
    })
  }
}

/** Keys that JavaScript moves to the front, other texts, and numbers. */
const tokens = /"(\d{1,10})"\s*:|"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g
