import { Tokenizer } from 'htmlparser2'

/** Gets what is in a page, in its order. Names are lower case. */
interface HtmlEvents {
  open: (name: string, attributes: ReadonlyMap<string, string>) => void
  text: (text: string) => void
  /** `</name>`, whether or not it was opened. */
  close: (name: string) => void
}

/**
 * Reads a page once from start to end, in time proportional to its length. It keeps no list of open elements: one of
 * half a million that are nested in each other is what takes a parser minutes.
 *
 * @param wanted names of the attributes that are returned.
 */
export function readHtml (html: string, events: HtmlEvents, wanted: ReadonlySet<string> = new Set()): void {
  let name = ''
  let attribute = ''
  let value: string | undefined
  let attributes = new Map<string, string>()
  const nothing = (): void => {}
  const opened = (): void => { events.open(name, attributes) }
  const tokenizer = new Tokenizer({ decodeEntities: true }, {
    onopentagname (start, end) {
      name = html.slice(start, end).toLowerCase()
      attributes = new Map()
    },
    onattribname (start, end) {
      attribute = wanted.size === 0 ? '' : html.slice(start, end).toLowerCase()
      value = wanted.has(attribute) ? '' : undefined
    },
    onattribdata (start, end) {
      if (value !== undefined) value += html.slice(start, end)
    },
    onattribentity (codepoint) {
      if (value !== undefined) value += String.fromCodePoint(codepoint)
    },
    onattribend () {
      if (value !== undefined && !attributes.has(attribute)) attributes.set(attribute, value)
    },
    onopentagend: opened,
    onselfclosingtag () {
      opened()
      // Elsewhere the slash means nothing.
      if (name === 'svg') events.close(name)
    },
    onclosetag (start, end) { events.close(html.slice(start, end).toLowerCase()) },
    ontext (start, end) { events.text(html.slice(start, end)) },
    ontextentity (codepoint) { events.text(String.fromCodePoint(codepoint)) },
    oncdata: nothing,
    oncomment: nothing,
    ondeclaration: nothing,
    onprocessinginstruction: nothing,
    onend: nothing
  })
  tokenizer.write(html)
  tokenizer.end()
}
