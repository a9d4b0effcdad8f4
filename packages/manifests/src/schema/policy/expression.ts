import type * as cel from '@marcbachmann/cel-js'
import { asError, findText, placesOf } from '@toolyard/contract/terms'
import { madeOnce } from '@toolyard/runtime'
import { RE2JS } from 're2js'
import type { ArgumentType } from './argument-types.ts'
import { mostParts, stepsOf, type ValueSize } from './expression-steps.ts'

/*
 * Expressions of rules, in CEL (https://cel.dev). They are checked with the types of a tool's arguments when a manifest is
 * read, and run with values of any type. Two things are our own: numbers are doubles, which integers of an expression mix
 * with; and `matches` runs on RE2's engine, in linear time, as CEL has it.
 */

export interface PolicyInput {
  args: Record<string, unknown>
  key: { name: string, role: string, permissions: readonly string[] }
  tenant: string
  session: string
  conversation: string
  tool: string
  /** `experimental` or `trusted`; empty for what is the operator's own. */
  audit: string
}

export interface Expression {
  /** Steps that it takes at most over arguments of this size. */
  steps: (size: ValueSize) => number
  /** @throws Error for values that it can't be about. */
  run: (input: PolicyInput) => unknown
}

/** How expressions are read: made once, since it takes a millisecond. */
export interface Cel {
  /** Knows all but the types of arguments. */
  base: cel.Environment
  /** Takes arguments of any types. */
  open: cel.Environment
  /** Reads without knowing what anything is. */
  bare: cel.Environment
  /** The patterns of `matches`, by their text. */
  patterns: Map<string, RE2JS>
}
type Node = cel.ASTNode

/** Loads the engine; manifests without rules don't need it. */
export const loadCel = madeOnce(async (): Promise<Cel> => {
  const { Environment } = await import('@marcbachmann/cel-js')
  const bare = new Environment({ homogeneousAggregateLiterals: false, limits })
  const patterns = new Map<string, RE2JS>()
  const base = withOwn(new Environment({ homogeneousAggregateLiterals: false, limits }), patterns)
  return { bare, base, open: base.clone().registerVariable('args', 'map<string, dyn>'), patterns }
})

const limits = { maxAstNodes: 500, maxDepth: 50, maxListElements: 200, maxMapEntries: 50, maxCallArguments: 8 }
const arithmetic: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b, '/': (a, b) => a / b, '%': (a, b) => a % b
}
/** Functions of the engine that ours take the place of: its `matches` may take for ever, and a search the product of both lengths. */
const own: Readonly<Record<string, string>> = {
  matches: 'linear_matches', split: 'bounded_split', contains: 'linear_contains', indexOf: 'linear_index', lastIndexOf: 'linear_last_index'
}
/** Comparisons of letters up to which the engine's own search is the quicker one. */
const fewCompared = 2_048

/** For arguments of these types; undefined when the expression can be used. */
export function expressionFault ({ base, bare }: Cel, text: string, args: ArgumentType): string | undefined {
  const { valid, type = '', error } = withArguments(base.clone(), args).check(text)
  if (!valid) return summary(error)
  if (type !== 'bool' && type !== 'dyn') return `gives ${type}, not true or false`
  return patternFault(bare.parse(text).ast)
}

/** Reads an expression that has no fault. */
export function compileExpression ({ open, bare, patterns }: Cel, text: string): Expression {
  const parsed = bare.parse(text).ast
  for (const { pattern = '' } of matchesOf(parsed)) patterns.set(pattern, RE2JS.compile(pattern))
  const run = open.parse(withOwnFunctions(text, parsed))
  // Here, and not at the first call.
  run.check()
  return { run: input => run(input) as unknown, steps: size => stepsOf(parsed, size) }
}

/** The first line of an error, without the picture of the place. */
export function summary (error: unknown): string {
  return asError(error).message.split('\n')[0]?.trim() ?? ''
}

function withOwn (env: cel.Environment, patterns: ReadonlyMap<string, RE2JS>): cel.Environment {
  for (const [operator, of] of Object.entries(arithmetic)) {
    env.registerOperator(`double ${operator} int: double`, (a: number, b: bigint) => of(a, Number(b)))
    env.registerOperator(`int ${operator} double: double`, (a: bigint, b: number) => of(Number(a), b))
  }
  env.registerOperator('double % double: double', (a: number, b: number) => a % b)
  env.registerOperator('double == int: bool', (a: number, b: bigint) => a === Number(b))
  env.registerFunction('string.bounded_split(string): list<string>', (text: string, separator: string) => partsOf(text, separator))
  env.registerFunction('string.bounded_split(string, int): list<string>', (text: string, separator: string, most: bigint) => partsOf(text, separator, Number(most)))
  env.registerFunction('string.linear_matches(string): bool', (text: string, pattern: string) => patterns.get(pattern)?.matcher(text).find())
  env.registerFunction('string.linear_contains(string): bool', (text: string, part: string) => findText(text, part, 0, fewCompared) !== -1)
  env.registerFunction('string.linear_index(string): int', (text: string, part: string) => BigInt(findText(text, part, 0, fewCompared)))
  env.registerFunction('string.linear_index(string, int): int', (text: string, part: string, from: bigint) => (
    part === '' ? from : BigInt(findText(text, part, placeIn(text, from), fewCompared))
  ))
  env.registerFunction('string.linear_last_index(string): int', (text: string, part: string) => BigInt(lastPlace(text, part, text.length)))
  env.registerFunction('string.linear_last_index(string, int): int', (text: string, part: string, from: bigint) => (
    part === '' ? from : BigInt(lastPlace(text, part, placeIn(text, from)))
  ))
  return env
    .registerVariable({ name: 'key', schema: { name: 'string', role: 'string', permissions: 'list<string>' } })
    .registerVariable('tenant', 'string').registerVariable('session', 'string')
    .registerVariable('conversation', 'string').registerVariable('tool', 'string').registerVariable('audit', 'string')
}

/** @param most parts, of which the last one has the rest; negative for any number */
function partsOf (text: string, separator: string, most = -1): string[] {
  const parts = split(text, separator, most < 1 ? mostParts + 1 : most - 1)
  if (most === 0) return []
  if (parts.length > mostParts) throw new Error(`a text has more than ${mostParts} parts`)
  const used = parts.reduce((sum, part) => sum + part.length + separator.length, 0)
  return most < 0 || used > text.length || (separator === '' && used === text.length) ? parts : [...parts, text.slice(used)]
}

function split (text: string, separator: string, most: number): string[] {
  if (text.length * separator.length <= fewCompared) return text.split(separator, most)
  const parts: string[] = []
  for (let at = 0; parts.length < most;) {
    const end = findText(text, separator, at, fewCompared)
    parts.push(text.slice(at, end === -1 ? text.length : end))
    if (end === -1) break
    at = end + separator.length
  }
  return parts
}

/** @throws Error for a place that isn't in the text. */
function placeIn (text: string, place: bigint): number {
  if (place < 0n || place >= text.length) throw new Error('fromIndex out of range')
  return Number(place)
}

/** Where a part begins for the last time, at a place or before. */
function lastPlace (text: string, part: string, before: number): number {
  if (text.length * part.length <= fewCompared) return text.lastIndexOf(part, before)
  let last = -1
  for (const place of placesOf(text, part)) {
    if (place > before) break
    last = place
  }
  return last
}

function withArguments (env: cel.Environment, args: ArgumentType): cel.Environment {
  return typeof args === 'string' ? env.registerVariable('args', args) : env.registerVariable({ name: 'args', schema: args })
}

function childrenOf ({ args }: Node): Node[] {
  return [args].flat(3).filter((child): child is Node => typeof child === 'object' && child !== null && 'op' in child)
}

function patternFault (ast: Node): string | undefined {
  return matchesOf(ast).map(({ pattern }) => {
    // To compile one takes longer than to use it, so none comes with a call.
    if (pattern === undefined) return 'has a pattern that is no text of the rule itself'
    try {
      RE2JS.compile(pattern)
      return undefined
    } catch {
      return `has a pattern that RE2 can't read: ${JSON.stringify(pattern.slice(0, 80))}`
    }
  }).find(fault => fault !== undefined)
}

/** The same text with our own functions: the engine's `matches` may take for ever, and its `split` makes a million parts. */
function withOwnFunctions (text: string, ast: Node): string {
  const places = callsOf(ast, Object.keys(own)).map(({ name, on }) => ({ name, at: on.range.end })).sort((a, b) => b.at - a.at)
  return places.reduce((written, { name, at }) => {
    const place = written.indexOf(name, at)
    return `${written.slice(0, place)}${own[name] ?? name}${written.slice(place + name.length)}`
  }, text)
}

/** The patterns of `matches`, where the rule has them. */
function matchesOf (ast: Node): Array<{ pattern: string | undefined }> {
  return callsOf(ast, ['matches']).map(({ args: [pattern] }) => (
    { pattern: pattern?.op === 'value' && typeof pattern.args === 'string' ? pattern.args : undefined }
  ))
}

/** The calls of functions with these names, and what each is called on. */
function callsOf (node: Node, names: readonly string[]): Array<{ name: string, on: Node, args: readonly Node[] }> {
  const inner = childrenOf(node).flatMap(child => callsOf(child, names))
  return node.op === 'rcall' && names.includes(node.args[0]) ? [{ name: node.args[0], on: node.args[1], args: node.args[2] }, ...inner] : inner
}
