import { readHtml } from './html-reader.ts'

/** Elements whose content isn't text of the page. */
const unread = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object'])
/** Elements that begin a line, and those that end one too. */
const lines = new Set(['br', 'dd', 'dt', 'hr', 'li', 'option', 'tr'])
const blocks = new Set(['address', 'article', 'aside', 'blockquote', 'div', 'dl', 'fieldset', 'figcaption', 'figure', 'footer', 'form', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'main', 'nav', 'ol', 'p', 'pre', 'section', 'table', 'title', 'ul'])
const marks: ReadonlyMap<string, string> = new Map([
  ['h1', '# '], ['h2', '## '], ['h3', '### '], ['h4', '#### '], ['h5', '##### '], ['h6', '###### '], ['li', '- '], ['td', ' '], ['th', ' ']
])

/**
 * The text of an HTML page as it reads: its title, then its content, a line for each block, headings marked with `#`,
 * list items with `-`. The page is read once from start to end, without a tree, however deep it is nested.
 */
export function htmlText (html: string): string {
  const parts: string[] = []
  const skipped = new UnreadElements()
  let preformatted = 0
  readHtml(html, {
    open (name) {
      if (unread.has(name)) skipped.open(name)
      if (skipped.any) return
      if (name === 'pre') preformatted += 1
      if (lines.has(name) || blocks.has(name)) parts.push('\n')
      parts.push(marks.get(name) ?? '')
    },
    text (text) {
      if (!skipped.any) parts.push(preformatted > 0 ? text : text.replace(/\s+/g, ' '))
    },
    close (name) {
      if (unread.has(name)) skipped.close(name)
      if (name === 'pre') preformatted = Math.max(0, preformatted - 1)
      if (!skipped.any && blocks.has(name)) parts.push('\n')
    }
  })
  return tidy(parts.join(''))
}

/** The unread elements that are open; one that ends takes along what was opened in it. */
class UnreadElements {
  readonly #open: string[] = []
  readonly #counts = new Map<string, number>()

  get any (): boolean {
    return this.#open.length > 0
  }

  open (name: string): void {
    this.#open.push(name)
    this.#count(name, 1)
  }

  close (name: string): void {
    if ((this.#counts.get(name) ?? 0) === 0) return
    for (let last = this.#open.pop(); last !== undefined; last = last === name ? undefined : this.#open.pop()) this.#count(last, -1)
  }

  #count (name: string, by: number): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + by)
  }
}

function tidy (text: string): string {
  const all = text.split('\n').map(line => line.trimEnd())
  const kept = all.filter((line, index) => line !== '' || all[index - 1] !== '')
  return kept.map(line => line.startsWith(' ') && !line.startsWith('  ') ? line.slice(1) : line).join('\n').trim()
}
