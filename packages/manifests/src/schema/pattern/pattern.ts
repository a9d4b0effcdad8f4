import { orElse } from '@toolyard/contract/terms'
import { createRequire } from 'node:module'
import type * as re2js from 're2js'
import { manifestLimits } from '../../tool/limits.ts'
import { withoutNeedlessEscapes } from './escapes.ts'
import { linearSyntax } from './linear-syntax.ts'
import { isPlainPattern } from './plain.ts'
import { parsePattern, type PatternNode } from './syntax.ts'

export interface Pattern {
  test (text: string): boolean
  /** Steps that one character of a text may take: 0 where they are too few to count. */
  places: number
  /** The pattern's own text: Ajv tells patterns apart by it. */
  toString (): string
}

/** A pattern that is broken, or that no engine can hold. The message is a half sentence about it. */
export class PatternRefused extends Error {
  override readonly name = 'PatternRefused'
}

/** Loaded with the first pattern that needs it: it is a quarter of a megabyte of code, and few tools have such patterns. */
const load = createRequire(import.meta.url)
// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The package's own types.
export const linearEngine = (): typeof re2js => load('re2js') as typeof re2js

/** Counts that are nested multiply: engines write them out. */
const maxRepeats = 10_000
/** RE2 holds no more. */
const maxLinearRepeats = 1_000
const unicodeProperty = /\\p/i

/**
 * Compiles a pattern of a schema. A plain one runs on JavaScript's engine, any other on RE2's, in linear time. What RE2 can't
 * read (look-around, back references) runs on JavaScript's, and may backtrack: `canBacktrack` tells, and such a pattern is
 * only run in a thread with a deadline. See docs/decisions/0058-patterns.md.
 *
 * @throws PatternRefused
 */
export function compilePattern (written: string): Pattern {
  const source = withoutNeedlessEscapes(written)
  if (source.length > manifestLimits.patternChars) {
    throw new PatternRefused(`is longer than ${manifestLimits.patternChars} characters`)
  }
  if (isPlainPattern(source)) return nativePattern(source)
  const syntax = parsed(source)
  if (syntax !== undefined && nestedRepeats(syntax) > maxRepeats) throw new PatternRefused(`repeats a part more than ${maxRepeats} times`)
  const native = nativePattern(source)
  return (syntax === undefined ? undefined : linearPattern(source, syntax)) ?? native
}

/** Whether a pattern that can be used may backtrack; where that isn't certain, it may. */
export function canBacktrack (written: string): boolean {
  const source = withoutNeedlessEscapes(written)
  if (isPlainPattern(source)) return false
  const syntax = parsed(source)
  // Some properties are JavaScript's alone.
  if (syntax === undefined || unicodeProperty.test(source)) return true
  return nestedRepeats(syntax) > maxLinearRepeats || linearSyntax(syntax) === undefined
}

/** A pattern that can be used, for short names on the event loop; every name fits one that can backtrack. */
export function patternOfNames (source: string): Pattern {
  return canBacktrack(source) ? { test: () => true, places: 0, toString: () => source } : compilePattern(source)
}

function nativePattern (source: string): Pattern {
  try {
    const pattern = new RegExp(source, 'u')
    // V8 compiles at the first run, and again when it optimizes: "too large" shall come now, not in a call.
    for (let run = 0; run < 2; run++) pattern.test('')
    return { test: text => pattern.test(text), places: 0, toString: () => pattern.toString() }
  } catch {
    throw new PatternRefused('is not a valid regular expression')
  }
}

/** Undefined for what the parser doesn't know. */
function parsed (source: string): PatternNode | undefined {
  return orElse(() => parsePattern(source), undefined)
}

function linearPattern (source: string, pattern: PatternNode): Pattern | undefined {
  const syntax = linearSyntax(pattern)
  if (syntax === undefined) return undefined
  try {
    const compiled = linearEngine().RE2JS.compile(syntax)
    return { test: text => compiled.test(text), places: placesOf(pattern), toString: () => source }
  } catch {
    return undefined
  }
}

/** How often the innermost part of a pattern is repeated by counts around it: 6 for `(a{2}){3}`, 1 for `(a*)*`. */
function nestedRepeats (node: PatternNode): number {
  const inner = children(node).reduce((most, child) => Math.max(most, nestedRepeats(child)), 1)
  return node.type === 'quantifier' ? inner * Math.max(node.min, node.max ?? 1, 1) : inner
}

/** Places where a pattern takes a character, once its counts are written out: 7 for `a(bc){2,3}`, 2 for `a+b`. */
function placesOf (node: PatternNode): number {
  const inner = children(node)
  if (inner.length === 0) return node.type === 'anchor' ? 0 : 1
  const places = inner.reduce((sum, child) => sum + placesOf(child), 0)
  return node.type === 'quantifier' ? places * Math.max(node.min, node.max ?? 1, 1) : places
}

/** A property of Unicode has hundreds of ranges, which are written out wherever it stands. */
const placesOfProperty = 100

/** The places of a pattern, as an engine writes them out; 0 for one that is plain, or that no parser reads. */
export function writtenPlaces (written: string): number {
  const source = withoutNeedlessEscapes(written)
  const syntax = isPlainPattern(source) ? undefined : parsed(source)
  if (syntax === undefined) return 0
  return placesOf(syntax) * (unicodeProperty.test(source) ? placesOfProperty : 1)
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
