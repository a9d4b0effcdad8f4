import regjsparser, { type AstNode } from 'regjsparser'

export type PatternNode = AstNode<typeof features>

const features = { lookbehind: true, namedGroups: true, unicodePropertyEscape: true } as const

/** Parses a pattern as ECMAScript does with the `u` flag, which JSON Schema recommends. Throws when it is broken. */
export function parsePattern (source: string): PatternNode {
  return regjsparser.parse(source, 'u', features)
}
