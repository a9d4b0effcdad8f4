interface ListedTool {
  name: string
  description?: string | undefined
  audit?: string | undefined
}

/** A tool in one line of a list: of a description with several lines, the first. */
export function toolLine ({ name, description = '', audit }: ListedTool): string {
  const text = description.trim()
  const [first = ''] = text.split(/[\r\n\u2028\u2029]/, 1)
  const shown = first.trimEnd() + (first.length < text.length ? ' ...' : '')
  return `- ${name}${audit === undefined ? '' : ` (${audit})`}: ${text === '' ? '(no description)' : shown}`
}
