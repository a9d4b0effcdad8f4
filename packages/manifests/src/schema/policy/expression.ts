import type * as cel from '@marcbachmann/cel-js'
import { asError } from '@toolyard/contract/terms'
import { madeOnce } from '@toolyard/runtime'
import { RE2JS } from 're2js'
import type { ArgumentType } from './argument-types.ts'

/*
 * Expressions of rules, in CEL (https://cel.dev). They are checked with the types of a tool's arguments when a manifest is
 * read, and run with values of any type. Two things are our own: numbers are doubles, which integers of an expression mix
 * with; and `matches` runs on RE2's engine, in linear time, as CEL has it.
 */

/** What an expression is about. */
export interface PolicyInput {
  args: Record<string, unknown>
  key: { name: string, role: string, permissions: readonly string[] }
  tenant: string
  session: string
  conversation: string
  tool: string
}

/** An expression that was checked. */
export interface Expression {
  /** Steps that it takes at most over arguments of this size. */
  steps: (size: ArgumentsSize) => number
  /** @throws Error for values that it can't be about. */
  run: (input: PolicyInput) => unknown
}

/** How large arguments are, for what an expression may do with them. */
export interface ArgumentsSize {
  /** Members of the longest list or object. */
  members: number
  /** UTF-16 units of the longest text. */
  chars: number
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
const linearMatches = 'linear_matches'
/** What walks over the members of a list or an object. */
const macros: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'filter', 'map'])
/** UTF-16 units of a text that one step looks at; a pattern takes 0.3 µs for each, which is some 4 steps. */
const charsPerStep = 64
const stepsPerMatchedChar = 4

/** What is wrong with an expression, for arguments of these types; undefined when it can be used. */
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
  const run = open.parse(withLinearMatches(text, parsed))
  // Here, and not at the first call.
  run.check()
  return { run: input => run(input) as unknown, steps: size => stepsOf(parsed, size, 1) }
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
  env.registerFunction(`string.${linearMatches}(string): bool`, (text: string, pattern: string) => patterns.get(pattern)?.matcher(text).find())
  return env
    .registerVariable({ name: 'key', schema: { name: 'string', role: 'string', permissions: 'list<string>' } })
    .registerVariable('tenant', 'string').registerVariable('session', 'string')
    .registerVariable('conversation', 'string').registerVariable('tool', 'string')
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

/** The same text, in which `matches` is our own: the engine's runs on one that may take for ever. */
function withLinearMatches (text: string, ast: Node): string {
  const places = matchesOf(ast).map(({ at }) => at).sort((a, b) => b - a)
  return places.reduce((written, at) => {
    const place = written.indexOf('matches', at)
    return `${written.slice(0, place)}${linearMatches}${written.slice(place + 'matches'.length)}`
  }, text)
}

/** The calls of `matches`: where the text ends that is matched, and the pattern where the rule has it. */
function matchesOf (node: Node): Array<{ at: number, pattern: string | undefined }> {
  const inner = childrenOf(node).flatMap(matchesOf)
  if (node.op !== 'rcall' || node.args[0] !== 'matches') return inner
  const [pattern] = node.args[2]
  const text = pattern?.op === 'value' && typeof pattern.args === 'string' ? pattern.args : undefined
  return [{ at: node.args[1].range.end, pattern: text }, ...inner]
}

/** @param times how often the node is run: once for each member that macros around it walk over */
function stepsOf (node: Node, size: ArgumentsSize, times: number): number {
  const inner = node.op === 'rcall' && macros.has(node.args[0]) ? times * Math.max(1, size.members) : times
  const own = times * (1 + weightOf(node, size))
  return childrenOf(node).reduce((sum, child) => sum + stepsOf(child, size, inner), own)
}

/** What a node does beyond one step. */
function weightOf (node: Node, { members, chars }: ArgumentsSize): number {
  if (node.op === 'rcall' && node.args[0] === 'matches') return chars * stepsPerMatchedChar
  if (node.op === 'rcall' && !macros.has(node.args[0])) return chars / charsPerStep
  if (node.op === 'call') return chars / charsPerStep
  if (node.op !== '==' && node.op !== '!=' && node.op !== 'in' && node.op !== '+') return 0
  // Lists and objects are gone through as a whole, if they are on both sides.
  if (node.args.some(({ op }) => op === 'value')) return chars / charsPerStep
  return node.op === 'in' && node.args[1].op === 'list' ? node.args[1].args.length : members + chars / charsPerStep
}
