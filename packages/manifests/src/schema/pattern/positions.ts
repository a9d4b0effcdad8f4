import type { PatternNode } from './syntax.ts'

/** A pattern as the places where it takes a character, and which place can come after which (Glushkov's automaton). */
export interface Positions {
  /** The source text of each place: a character, a class, an escape or a dot. */
  sources: string[]
  /** For each place, the places that can follow it. */
  follow: Array<Set<number>>
  /** Two loops lead from one place to the same next one, as in `(a+)+`: every round doubles the ways to match. */
  doubled: boolean
  /** Some part is repeated without end. */
  loops: boolean
  /** Nodes that were laid out, repeats counted as often as they were written out. */
  visits: number
}

/** What a part of a pattern begins and ends with, and whether it can match nothing. */
interface Part {
  first: number[]
  last: number[]
  nullable: boolean
}

/** Repeats up to this count are written out; above, they count as endless. */
const expandedRepeats = 3
/** Repeats that are nested and written out could grow without end. */
const maxVisits = 2_000
const empty: Part = { first: [], last: [], nullable: true }

/** Lays out a parsed pattern; undefined when it is too large. Assertions and back references count as nothing. */
export function positionsOf (pattern: PatternNode): Positions | undefined {
  const positions: Positions = { sources: [], follow: [], doubled: false, loops: false, visits: 0 }
  layOut(pattern, positions)
  return positions.visits > maxVisits ? undefined : positions
}

function layOut (node: PatternNode, positions: Positions): Part {
  if (++positions.visits > maxVisits) return empty
  switch (node.type) {
    case 'alternative': return sequence(node.body, positions)
    case 'disjunction': return choice(node.body.map(branch => layOut(branch, positions)))
    case 'group': return sequence(node.body, positions)
    case 'quantifier': return repeat(node, positions)
    case 'anchor':
    case 'reference': return empty
    default: {
      const place = positions.sources.push(node.raw) - 1
      positions.follow.push(new Set())
      return { first: [place], last: [place], nullable: false }
    }
  }
}

function sequence (nodes: readonly PatternNode[], positions: Positions): Part {
  return nodes.reduce<Part>((before, node) => concatenated(before, layOut(node, positions), positions), empty)
}

function concatenated (left: Part, right: Part, positions: Positions): Part {
  for (const place of left.last) for (const next of right.first) positions.follow[place]?.add(next)
  return {
    first: left.nullable ? [...left.first, ...right.first] : left.first,
    last: right.nullable ? [...left.last, ...right.last] : right.last,
    nullable: left.nullable && right.nullable
  }
}

function choice (branches: readonly Part[]): Part {
  return {
    first: branches.flatMap(branch => branch.first),
    last: branches.flatMap(branch => branch.last),
    nullable: branches.some(branch => branch.nullable)
  }
}

function repeat (node: Extract<PatternNode, { type: 'quantifier' }>, positions: Positions): Part {
  if (node.max === 0) return empty
  if (node.max !== undefined && node.max <= expandedRepeats) {
    let part = empty
    for (let round = 0; round < node.max; round++) {
      const body = sequence(node.body, positions)
      part = concatenated(part, round < node.min ? body : { ...body, nullable: true }, positions)
    }
    return part
  }
  positions.loops = true
  const body = sequence(node.body, positions)
  for (const place of body.last) {
    const follow = positions.follow[place]
    for (const next of body.first) {
      if (follow?.has(next) === true) positions.doubled = true
      follow?.add(next)
    }
  }
  // Many rounds of something that can be nothing, as in `(a?){30}`: a round can be left out in as many ways.
  if (node.max !== undefined && body.nullable) positions.doubled = true
  return { ...body, nullable: body.nullable || node.min === 0 }
}
