import type * as cel from '@marcbachmann/cel-js'

type Node = cel.ASTNode

/** How large a value is at most. */
export interface ValueSize {
  /** Members of the longest list or object. */
  members: number
  /** UTF-16 units of the longest text, and of all texts together. */
  chars: number
  text: number
  /** Values in all. */
  values: number
}

/** A node's steps, and the size of its value: a text or a list may be far larger than those that it is made of. */
interface Cost {
  steps: number
  size: ValueSize
}

/** Parts that a text may be split into. */
export const mostParts = 500
/** UTF-16 units of a text that one step, of some 0.1 µs, looks at. */
const charsPerStep = 64
/** The same where letters are looked at one by one, and where they are counted or read as digits. */
const charsPerSought = 32
const charsPerCounted = 8
/** One comparison of values takes so many. */
const stepsPerValue = 4
/** They walk over the members of a list or an object. */
const macros: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'filter', 'map'])
const searches: ReadonlySet<string> = new Set(['contains', 'indexOf', 'lastIndexOf', 'split'])
/** Steps for each UTF-16 unit: of a pattern, and of a duration, which is one. */
const stepsPerChar: Readonly<Record<string, number>> = { matches: 4, duration: 10 }
/** Steps of what makes times: those of a time zone are looked up for each. */
const stepsOfTime = { read: 60, inZone: 1_500 }

const nothing: ValueSize = { members: 0, chars: 0, text: 0, values: 0 }
/** Of what is said about a call beside its arguments. */
const small: ValueSize = { members: 16, chars: 1_024, text: 4_096, values: 16 }
/** UTF-16 units of a number as a text. */
const numberChars = 64

/** Steps that an expression takes at most, over arguments of a size. */
export function stepsOf (ast: Node, args: ValueSize): number {
  return costOf(ast, new Map([['args', args]])).steps
}

function costOf (node: Node, scope: ReadonlyMap<string, ValueSize>): Cost {
  const of = (child: Node): Cost => costOf(child, scope)
  switch (node.op) {
    case 'value': return { steps: 1, size: typeof node.args === 'string' ? textOf(node.args.length) : nothing }
    case 'id': return { steps: 1, size: scope.get(node.args) ?? small }
    case '.': case '.?': return after([of(node.args[0])], 0, size => size)
    case '[]': case '[?]': return after(node.args.map(of), 0, size => size)
    case 'list': return after(node.args.map(of), 0, size => listOf(size, node.args.length))
    case 'map': return after(node.args.flat().map(of), 0, size => listOf(size, node.args.length))
    case '?:': return after(node.args.map(of), 0, size => size)
    case 'call': return callCost(node.args[0], node.args[1].map(of))
    case 'rcall': return macros.has(node.args[0]) || node.args[0] === 'bind' ? macroCost(node, scope) : callCost(node.args[0], [node.args[1], ...node.args[2]].map(of))
    case '!_': case '-_': return after([of(node.args)], 0)
    case '||': case '&&': return after(node.args.map(of), 0)
    default: return operatorCost(node, node.args.map(of))
  }
}

/** The node's cost after its parts. Its value holds no more than all of them together. */
function after (parts: readonly Cost[], weight: number, made: (all: ValueSize) => ValueSize = () => nothing): Cost {
  return { steps: parts.reduce((sum, { steps }) => sum + steps, 1 + weight), size: made(together(parts)) }
}

function together (parts: readonly Cost[]): ValueSize {
  return parts.reduce((all, { size }) => ({
    members: all.members + size.members, chars: all.chars + size.chars, text: all.text + size.text, values: all.values + size.values
  }), nothing)
}

function textOf (chars: number): ValueSize {
  return { members: 0, chars, text: chars, values: 0 }
}

function listOf (size: ValueSize, members: number): ValueSize {
  return { ...size, members: Math.max(size.members, members), values: size.values + members }
}

/** Two values are compared, or put together. Lists and objects are gone through as a whole, if they are on both sides. */
function operatorCost ({ op, args: [one, other] }: Node & { args: [Node, Node] }, sides: readonly Cost[]): Cost {
  const { values, chars } = together(sides)
  const isOfTexts = one.op === 'value' || other.op === 'value' || !['==', '!=', 'in', '+'].includes(op)
  const walked = isOfTexts ? 0 : op === 'in' && other.op === 'list' ? other.args.length : values * stepsPerValue
  return after(sides, walked + chars / charsPerStep, size => op === '+' ? size : nothing)
}

/** A macro runs its last arguments for each member; `bind` runs one with a value that has a name. */
function macroCost ({ args: [name, on, args] }: Node & { op: 'rcall' }, scope: ReadonlyMap<string, ValueSize>): Cost {
  const [variable, ...bodies] = args
  const walked = costOf(name === 'bind' ? bodies.shift() ?? on : on, scope)
  const inner = new Map(scope).set(variable?.op === 'id' ? variable.args : '', walked.size)
  const costs = bodies.map(body => costOf(body, inner))
  const times = name === 'bind' ? 1 : Math.max(1, walked.size.members)
  const steps = walked.steps + 1 + times * costs.reduce((sum, cost) => sum + cost.steps, 1)
  const made = costs.at(-1)?.size ?? nothing
  if (name === 'bind') return { steps, size: made }
  if (name === 'filter') return { steps, size: walked.size }
  if (name !== 'map') return { steps, size: nothing }
  return { steps, size: listOf({ ...made, text: times * made.text, values: times * made.values }, times) }
}

/** @param parts what it is called on, and its arguments */
function callCost (name: string, parts: readonly Cost[]): Cost {
  const [on = { steps: 0, size: nothing }, first = { steps: 0, size: nothing }] = parts
  const { chars } = together(parts)
  const perChar = stepsPerChar[name]
  if (perChar !== undefined) return after(parts, stepsOfTime.read + on.size.chars * perChar)
  if (name === 'join') {
    const joined = on.size.text + on.size.members * first.size.chars
    return after(parts, joined / charsPerStep, () => textOf(joined))
  }
  if (name === 'json') return after(parts, chars, () => ({ members: chars, chars, text: chars, values: chars }))
  if (searches.has(name)) return after(parts, chars / charsPerSought, size => name === 'split' ? listOf(size, mostParts) : nothing)
  if (name === 'timestamp' || name.startsWith('get')) {
    return after(parts, (parts.length > 1 ? stepsOfTime.inZone : stepsOfTime.read) + chars / charsPerCounted)
  }
  if (name === 'size' || name === 'int' || name === 'uint' || name === 'double') return after(parts, chars / charsPerCounted)
  // A letter has up to three bytes, and a byte two digits.
  const most = name === 'bytes' || name === 'hex' || name === 'base64' ? 3 : 1
  return after(parts, most * chars / charsPerStep, size => (
    { ...size, chars: most * size.chars + numberChars, text: most * size.text + numberChars }
  ))
}
