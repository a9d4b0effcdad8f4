import type { PatternNode } from './syntax.ts'

/** ECMAScript's white space and its complement, as RE2 ranges; RE2's own `\s` knows ASCII alone. */
const space = '\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}'
const notSpace = '\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}' +
  '\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}'
const classEscapes = { d: '0-9', D: '\\D', w: '\\w', W: '\\W', s: space, S: notSpace } as const
const anchors = { start: '\\A', end: '\\z', boundary: '\\b', 'not-boundary': '\\B' } as const

/**
 * Writes a parsed pattern in RE2's syntax, with exactly ECMAScript's meaning; undefined when RE2 has no such thing
 * (lookaround, back references). Greedy and lazy are the same here, since a schema only asks whether a text matches.
 */
export function linearSyntax (node: PatternNode): string | undefined {
  switch (node.type) {
    case 'alternative': return joined(node.body, '')
    case 'disjunction': return grouped(joined(node.body, '|'))
    case 'group':
      return node.behavior === 'normal' || node.behavior === 'ignore' ? grouped(joined(node.body, '')) : undefined
    case 'quantifier': {
      const body = joined(node.body, '')
      return body === undefined ? undefined : `(?:${body}){${node.min},${node.max ?? ''}}`
    }
    case 'anchor': return anchors[node.kind]
    case 'dot': return '[^\\n\\r\\x{2028}\\x{2029}]'
    case 'reference': return undefined
    case 'characterClass': {
      // RE2 has no empty class: nothing, and anything.
      if (node.body.length === 0) return node.negative ? '[\\x{0}-\\x{10ffff}]' : '[^\\x{0}-\\x{10ffff}]'
      return `[${node.negative ? '^' : ''}${node.body.map(classMember).join('')}]`
    }
    case 'characterClassRange':
    case 'characterClassEscape':
    case 'unicodePropertyEscape':
    case 'value': return `[${classMember(node)}]`
  }
}

function joined (nodes: readonly PatternNode[], separator: string): string | undefined {
  const parts = nodes.map(linearSyntax)
  return parts.includes(undefined) ? undefined : parts.join(separator)
}

function grouped (body: string | undefined): string | undefined {
  return body === undefined ? undefined : `(?:${body})`
}

type ClassMember = Extract<PatternNode, { type: 'characterClass' }>['body'][number]

function classMember (node: ClassMember): string {
  switch (node.type) {
    case 'value': return codePoint(node.codePoint)
    case 'characterClassRange': return `${codePoint(node.min.codePoint)}-${codePoint(node.max.codePoint)}`
    case 'characterClassEscape': return classEscapes[node.value]
    case 'unicodePropertyEscape': return node.raw
  }
}

function codePoint (code: number): string {
  return `\\x{${code.toString(16)}}`
}
