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
  const near = names.map(name => ({ name, distance: distance(plain, folded(name)) }))
    .sort((left, right) => left.distance - right.distance)[0]
  if (near !== undefined && near.distance <= Math.min(3, Math.floor(plain.length / 3))) return near.name
  return plain.length < shortestBeginning ? undefined : names.find(name => folded(name).startsWith(plain))
}

/**
 * Models may put so many letters in front of a name that they were given, as in
 * `functions.get_time`, or behind it.
 */
const longestAsked = 256

/**
 * The names that a model may have meant by one that isn't there, with how far each is away: those that differ in a few
 * letters, then those that it begins or ends with, or is the beginning of.
 */
export function nearNames (word: string, names: readonly string[]): Array<{ name: string, away: number }> {
  const plain = folded(word.slice(0, longestAsked))
  const mostLetters = Math.min(3, Math.floor(plain.length / 3))
  return names.flatMap(name => {
    const other = folded(name)
    const lengths = Math.abs(other.length - plain.length)
    const letters = lettersApart(plain, other, mostLetters)
    if (letters <= mostLetters) return [{ name, away: letters }]
    const [short, long] = other.length < plain.length ? [other, plain] : [plain, other]
    const isLong = short.length >= shortestBeginning || (short.length === shortestBeginning - 1 && lengths === 1)
    const isPart = isLong && (long.startsWith(short) || (long === plain && long.endsWith(short)))
    return isPart ? [{ name, away: mostLetters + lengths }] : []
  })
}

/**
 * How many letters two names are apart, whatever their case and separators; Infinity
 * above `most`, which is found at once where their lengths tell.
 */
export function lettersApart (left: string, right: string, most: number): number {
  const [one, other] = [folded(left), folded(right)]
  const letters = Math.abs(one.length - other.length) > most ? Infinity : distance(one, other)
  return letters > most ? Infinity : letters
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
