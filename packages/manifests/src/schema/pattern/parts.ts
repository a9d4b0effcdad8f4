import type { PatternNode } from './syntax.ts'

/** How often the innermost part of a pattern is repeated by counts around it: 6 for `(a{2}){3}`, 1 for `(a*)*`. */
export function nestedRepeats (node: PatternNode): number {
  const inner = children(node).reduce((most, child) => Math.max(most, nestedRepeats(child)), 1)
  return node.type === 'quantifier' ? inner * Math.max(node.min, node.max ?? 1, 1) : inner
}

/** Places where a pattern takes a character, once its counts are written out: 7 for `a(bc){2,3}`, 2 for `a+b`. */
export function placesOf (node: PatternNode): number {
  const inner = children(node)
  if (inner.length === 0) return node.type === 'anchor' ? 0 : 1
  const places = inner.reduce((sum, child) => sum + placesOf(child), 0)
  return node.type === 'quantifier' ? places * Math.max(node.min, node.max ?? 1, 1) : places
}

function children (node: PatternNode): readonly PatternNode[] {
  switch (node.type) {
    case 'alternative':
    case 'disjunction':
    case 'group':
    case 'quantifier': return node.body
    default: return []
  }
}
