import { createRequire } from 'node:module'
import type * as re2js from 're2js'
import type * as redosDetector from 'redos-detector'
import { manifestLimits } from '../../tool/limits.ts'
import { isExponential } from './ambiguity.ts'
import { withoutNeedlessEscapes } from './escapes.ts'
import { linearSyntax } from './linear-syntax.ts'
import { hasReference, nestedRepeats, placesOf } from './parts.ts'
import { isPlainPattern } from './plain.ts'
import { parsePattern, type PatternNode } from './syntax.ts'

/** A pattern that answers in time proportional to the text. */
export interface Pattern {
  test (text: string): boolean
  /** Steps that one character of a text may take: 0 where they are too few to count. */
  places: number
  /** The pattern's own text: Ajv tells patterns apart by it. */
  toString (): string
}

/** A pattern that is broken, or that can't be run in bounded time. The message is a half sentence about it. */
export class PatternRefused extends Error {
  override readonly name = 'PatternRefused'
}

/**
 * How much proof is asked for before a pattern may run on the backtracking engine of JavaScript. `maxScore` ways to
 * read a text, at 1 MB of it, are some 50 million steps, well below a second. `maxSteps` bounds the proof itself to
 * some 20 ms; ordinary patterns need a tenth of it. `timeout` (ms) is a last resort: steps give the same answer on
 * every machine. It is by the wall clock, and some patterns took 0.24 s on a busy machine before the proof's code was warm.
 */
const proof = { unicode: true, maxScore: 50, maxSteps: 1_000, timeout: 5_000 } as const

/** UTF-16 units of a text up to which the backtracking engine is used: 50 ways to read each of them take 10 ms. */
const nativeChars = 65_536

/** Loaded with the first pattern: together they are half a megabyte of code, and few tools have patterns. */
const load = createRequire(import.meta.url)
// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The package's own types.
const prover = (): typeof redosDetector => load('redos-detector') as typeof redosDetector
// eslint-disable-next-line @typescript-eslint/no-unsafe-type-assertion -- The package's own types.
const linearEngine = (): typeof re2js => load('re2js') as typeof re2js

const unicodeProperty = /\\p/i
/** Counts that are nested multiply: engines and the proof write them out. */
const maxRepeats = 10_000

/**
 * Compiles a pattern of a schema, for texts of any size. A pattern that is proven to be bounded runs on JavaScript's
 * engine, one without an ambiguous loop on RE2's engine; any other is refused. See docs/decisions/0058-patterns.md.
 *
 * @throws PatternRefused
 */
export function compilePattern (written: string): Pattern {
  const source = withoutNeedlessEscapes(written)
  if (source.length > manifestLimits.patternChars) {
    throw new PatternRefused(`is longer than ${manifestLimits.patternChars} characters`)
  }
  const native = nativePattern(source)
  if (isPlainPattern(source)) return native
  const syntax = parsed(source)
  if (nestedRepeats(syntax) > maxRepeats) throw new PatternRefused(`repeats a part more than ${maxRepeats} times`)
  // The proof keeps to none of its limits over some of these: one took a minute.
  if (hasReference(syntax)) throw new PatternRefused('has back references, which cannot be run in linear time')
  const linear = linearPattern(source, syntax)
  // The proof takes seconds over some sets of Unicode properties, so it is left to patterns that need it.
  if (!(linear !== undefined && unicodeProperty.test(source)) && isProven(source)) {
    return linear === undefined ? native : byLength(native, linear)
  }
  if (isExponential(syntax)) throw new PatternRefused('can backtrack without bound')
  if (linear === undefined) throw new PatternRefused('may backtrack without bound (look-around cannot be run in linear time)')
  return linear
}

/**
 * A pattern that `compilePattern` takes, without its proof, which takes a tenth of a second. Where RE2's engine can run
 * it, that does: what isn't proven could backtrack.
 */
export function acceptedPattern (written: string): Pattern {
  const source = withoutNeedlessEscapes(written)
  return (isPlainPattern(source) ? undefined : linearPattern(source, parsed(source))) ?? nativePattern(source)
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

/** Each text by the engine that is faster for its length at worst. */
function byLength (native: Pattern, linear: Pattern): Pattern {
  return {
    test: text => (text.length > nativeChars ? linear : native).test(text), places: linear.places, toString: () => native.toString()
  }
}

function isProven (source: string): boolean {
  try {
    return prover().isSafePattern(source, proof).safe
  } catch {
    // Syntax that the analysis doesn't know.
    return false
  }
}

function parsed (source: string): PatternNode {
  try {
    return parsePattern(source)
  } catch {
    throw new PatternRefused('uses syntax that cannot be checked for backtracking')
  }
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
