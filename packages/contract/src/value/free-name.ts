/** Characters of a name that every provider of models takes. */
const most = 64

/**
 * A name that isn't taken yet, which it is from now on: the one that is wanted, or that with a number behind it. Thousands may want the
 * same one, so the number is looked for by halves.
 */
export function freeName (wanted: string, taken: Set<string>): string {
  const nameOf = (number: number): string => number === 1 ? wanted : `${wanted.slice(0, most - String(number).length - 1)}_${number}`
  let last = 0
  let free = 1
  while (taken.has(nameOf(free))) [last, free] = [free, 2 * free]
  while (free - last > 1) {
    const middle = Math.floor((last + free) / 2)
    if (taken.has(nameOf(middle))) last = middle
    else free = middle
  }
  const name = nameOf(free)
  taken.add(name)
  return name
}
