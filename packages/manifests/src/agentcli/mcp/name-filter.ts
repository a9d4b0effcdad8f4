/**
 * Makes the check which names a list of patterns lets through: `*` stands for any letters, none as well, and `!` in
 * front leaves out. The last pattern that fits decides. When no pattern fits, the name is let through if the list is empty
 * or only leaves out.
 */
export function nameFilter (patterns: readonly string[]): (name: string) => boolean {
  const rules = patterns.map(pattern => pattern.startsWith('!') ? { lets: false, pattern: pattern.slice(1) } : { lets: true, pattern })
  const others = rules.every(({ lets }) => !lets)
  return name => rules.findLast(({ pattern }) => fits(name, pattern.split('*')))?.lets ?? others
}

/** In linear time, whatever the pattern: each part is looked for behind the one before it. */
function fits (name: string, parts: readonly string[]): boolean {
  const [first = '', ...rest] = parts
  const last = rest.pop()
  if (last === undefined) return name === first
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false
  const end = name.length - last.length
  let at = first.length
  for (const part of rest) {
    const found = name.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
