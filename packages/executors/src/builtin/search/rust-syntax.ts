/** Classes that RE2 means for ASCII alone and ripgrep for all of Unicode: outside and inside of brackets. */
const classes: Readonly<Record<string, { outside: string, inside?: string }>> = {
  d: { outside: '[0-9]', inside: '0-9' },
  D: { outside: '[^0-9]' },
  w: { outside: '[0-9A-Za-z_]', inside: '0-9A-Za-z_' },
  W: { outside: '[^0-9A-Za-z_]' },
  s: { outside: '[\\t\\n\\f\\r ]', inside: '\\t\\n\\f\\r ' },
  S: { outside: '[^\\t\\n\\f\\r ]' },
  b: { outside: '(?-u:\\b)' }
}

/** Escapes that mean the same to both. */
const shared = /^[^0-9A-Za-z]|[afnrtv]$/

/**
 * An expression of RE2's syntax in that of ripgrep, matching the same lines. Undefined for the rare ones where that
 * isn't sure: such a search is done without ripgrep.
 */
export function rustSyntax (pattern: string): string | undefined {
  let written = ''
  let inside = false
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern[at] ?? ''
    if (char === '\\') {
      const escape = translated(pattern[++at] ?? '', inside)
      if (escape === undefined) return undefined
      written += escape
      continue
    }
    // Brackets within brackets, and sets of sets, are read differently.
    if (inside && (char === '[' || /^(?:&&|--|~~)/.test(pattern.slice(at)))) return undefined
    if (char === '[') {
      inside = true
      // A bracket that closes at once is a character.
      const lead = /^\[\^?\]?/.exec(pattern.slice(at))?.[0] ?? '['
      written += lead.replace(']', '\\]')
      at += lead.length - 1
      continue
    }
    if (char === ']') inside = false
    written += char
  }
  return inside ? undefined : written
}

function translated (escape: string, inside: boolean): string | undefined {
  const known = classes[escape]
  if (known !== undefined) return inside ? known.inside : known.outside
  return shared.test(escape) ? `\\${escape}` : undefined
}
