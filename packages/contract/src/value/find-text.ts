/** Comparisons of characters that the engine's own search may come to: some 1 ms. */
const mostCompared = 4_194_304
/** The engine looks for a few letters in linear time. */
const fewLetters = 8

/**
 * Where a part of a text begins, from a place on; -1 for nowhere. `indexOf` compares a part such as `aaa…baaa…` anew at each place of
 * `aaa…`, which takes time by both lengths multiplied: two seconds for a megabyte. This takes time by their sum.
 *
 * @param most what the engine's own search may come to, which is the quicker one for most texts
 */
export function findText (text: string, part: string, from = 0, most = mostCompared): number {
  if (part.length < fewLetters || (text.length - from) * part.length <= most) return text.indexOf(part, from)
  return placesOf(text, part, from).next().value ?? -1
}

/** The places of a part in a text, overlapping ones too, by the algorithm of Knuth, Morris and Pratt. */
export function * placesOf (text: string, part: string, from = 0): Generator<number, undefined> {
  const borders = bordersOf(part)
  for (let at = from, matched = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    while (matched > 0 && (matched === part.length || part.charCodeAt(matched) !== unit)) matched = borders[matched] ?? 0
    if (part.charCodeAt(matched) === unit) matched += 1
    if (matched === part.length) yield at - part.length + 1
  }
}

/** For each length of a beginning of the part: how long the longest beginning is that it also ends with. */
function bordersOf (part: string): Int32Array {
  const borders = new Int32Array(part.length + 1)
  for (let at = 1, matched = 0; at < part.length; at++) {
    const unit = part.charCodeAt(at)
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched] ?? 0
    if (part.charCodeAt(matched) === unit) matched += 1
    borders[at + 1] = matched
  }
  return borders
}
