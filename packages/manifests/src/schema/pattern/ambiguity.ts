import { positionsOf, type Positions } from './positions.ts'
import type { PatternNode } from './syntax.ts'

/** Larger patterns are not judged: the cost of that grows with the square. */
const maxPlaces = 200
/** Pairs of places that are looked at before a pattern counts as too large to judge. */
const maxSteps = 200_000

/** A few characters of many kinds; those that a pattern names itself are added. */
const samples = [...Array.from({ length: 0x180 }, (_, code) => code), 0x3b1, 0x416, 0x5d0, 0x2003, 0x2028, 0x3042, 0x4e2d, 0xfeff, 0x1f600]

/**
 * Whether a backtracking matcher may need exponential time for the pattern: a loop in it can take the same characters
 * in two ways, as in `(a+)+` or `(a|aa)+`. A pattern that is too large to judge counts as such.
 *
 * This decides what is refused, not what is safe to run: `compilePattern` does that by itself.
 */
export function isExponential (pattern: PatternNode): boolean {
  const positions = positionsOf(pattern)
  if (positions === undefined || positions.doubled) return true
  if (!positions.loops) return false
  if (positions.sources.length > maxPlaces) return true
  const overlaps = overlapsOf(positions.sources)
  const budget = { steps: maxSteps }
  return positions.sources.some((_, place) => splitsAndMeets(place, positions, overlaps, budget))
}

/** Two runs start at one place, read the same characters, part, and are both at that place again. */
function splitsAndMeets (start: number, { follow, sources }: Positions, overlaps: boolean[][], budget: { steps: number }): boolean {
  const size = sources.length
  const origin = start * size + start
  const sourcesOf = new Map<number, number[]>([[origin, []]])
  for (const pair of sourcesOf.keys()) {
    for (const left of follow[Math.floor(pair / size)] ?? []) {
      for (const right of follow[pair % size] ?? []) {
        if (budget.steps-- < 0) return true
        if (overlaps[left]?.[right] !== true) continue
        const next = left * size + right
        const known = sourcesOf.get(next)
        if (known === undefined) sourcesOf.set(next, [pair])
        else known.push(pair)
      }
    }
  }
  const returning = new Set(sourcesOf.get(origin))
  for (const pair of returning) {
    if (Math.floor(pair / size) !== pair % size) return true
    for (const before of sourcesOf.get(pair) ?? []) returning.add(before)
  }
  return false
}

/** For each two places, whether some sampled character fits both. */
function overlapsOf (sources: readonly string[]): boolean[][] {
  const named = sources.join('')
  const characters = [...new Set([...samples.map(code => String.fromCodePoint(code)), ...named])]
  const sets = new Map([...new Set(sources)].map(source => {
    const one = new RegExp(`^${source}$`, 'u')
    return [source, characters.map(character => one.test(character))] as const
  }))
  return sources.map(left => sources.map(right => {
    if (left === right) return true
    const other = sets.get(right)
    return sets.get(left)?.some((fits, index) => fits && other?.[index] === true) === true
  }))
}
