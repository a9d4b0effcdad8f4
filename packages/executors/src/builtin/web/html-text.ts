import { Parser } from 'htmlparser2'

/** Elements whose content nobody reads. */
const unread = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'object'])
/** Elements that begin a line, and those that end one too. */
const lines = new Set(['br', 'dd', 'dt', 'hr', 'li', 'option', 'tr'])
const blocks = new Set(['address', 'article', 'aside', 'blockquote', 'div', 'dl', 'fieldset', 'figcaption', 'figure', 'footer', 'form', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'main', 'nav', 'ol', 'p', 'pre', 'section', 'table', 'title', 'ul'])
const marks: Readonly<Record<string, string>> = { h1: '# ', h2: '## ', h3: '### ', h4: '#### ', h5: '##### ', h6: '###### ', li: '- ', td: ' ', th: ' ' }

/**
 * The text of an HTML page as it reads: its title, then its content, a line for each block, headings marked with `#`,
 * list items with `-`. The page is read once from start to end, without a tree, however deep it is nested.
 */
export function htmlText (html: string): string {
  const parts: string[] = []
  let skipped = 0
  let preformatted = 0
  const parser = new Parser({
    onopentag (name) {
      if (unread.has(name)) skipped += 1
      if (skipped > 0) return
      if (name === 'pre') preformatted += 1
      if (lines.has(name) || blocks.has(name)) parts.push('\n')
      parts.push(marks[name] ?? '')
    },
    ontext (text) {
      if (skipped === 0) parts.push(preformatted > 0 ? text : text.replace(/\s+/g, ' '))
    },
    onclosetag (name) {
      if (unread.has(name)) skipped = Math.max(0, skipped - 1)
      if (name === 'pre') preformatted = Math.max(0, preformatted - 1)
      if (skipped === 0 && blocks.has(name)) parts.push('\n')
    }
  }, { decodeEntities: true })
  parser.end(html)
  return tidy(parts.join(''))
}

function tidy (text: string): string {
  const all = text.split('\n').map(line => line.trimEnd())
  const kept = all.filter((line, index) => line !== '' || all[index - 1] !== '')
  return kept.map(line => line.startsWith(' ') && !line.startsWith('  ') ? line.slice(1) : line).join('\n').trim()
}
