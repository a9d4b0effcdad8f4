/** Names longer than this aren't compared. */
const longest = 64

/** Shorter words are the beginning of too many names. */
const shortestBeginning = 3

/**
 * The name that a word was probably meant to be: equal but for case and separators, at most a third of its letters away
 * (three at most), or what it is the beginning of.
 */
export function nearName (word: string, names: readonly string[]): string | undefined {
  if (word.length > longest) return undefined
  const plain = folded(word)
  const near = names.map(name => ({ name, distance: distance(plain, folded(name)) })).sort((left, right) => left.distance - right.distance)[0]
  if (near !== undefined && near.distance <= Math.min(3, Math.floor(plain.length / 3))) return near.name
  return plain.length < shortestBeginning ? undefined : names.find(name => folded(name).startsWith(plain))
}

function folded (name: string): string {
  return name.toLowerCase().replace(/[-_. ]/g, '')
}

/** Letters to insert, remove or replace (Levenshtein). */
function distance (left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, at) => at)
  for (const [at, letter] of [...left].entries()) {
    const next = [at + 1]
    for (let column = 1; column <= right.length; column++) {
      next.push(Math.min(
        (row[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (row[column - 1] ?? 0) + (letter === right[column - 1] ? 0 : 1)
      ))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
