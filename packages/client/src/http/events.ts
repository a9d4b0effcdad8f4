/** One server-sent event; `data` is JSON. */
export interface ServerEvent {
  name: string
  id: string | undefined
  data: string
}

/** Reads the events of a body as they come; what is cut off at its end isn't one. */
export async function * readEvents (body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<ServerEvent> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    heard()
    // A long event comes in many pieces; what was looked through already has no end of an event in it.
    const from = Math.max(0, text.length - 1)
    text += decoder.decode(value, { stream: true })
    let start = 0
    for (let end = text.indexOf('\n\n', from); end !== -1; end = text.indexOf('\n\n', start)) {
      const event = parseEvent(text.slice(start, end))
      start = end + 2
      if (event !== undefined) yield event
    }
    text = text.slice(start)
  }
}

/** Undefined for a comment, which has no data. */
function parseEvent (block: string): ServerEvent | undefined {
  const fields = new Map(block.split('\n').map(line => {
    const [, name = '', value = ''] = /^([^:]*): ?(.*)$/s.exec(line) ?? []
    return [name, value]
  }))
  const data = fields.get('data')
  return data === undefined ? undefined : { name: fields.get('event') ?? 'message', id: fields.get('id'), data }
}
