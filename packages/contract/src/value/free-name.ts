/** Characters of a name that every provider of models takes. */
const most = 64

/** A name that isn't taken yet, which it is from now on: the one that is wanted, or that with a number behind it. */
export function freeName (wanted: string, taken: Set<string>): string {
  let name = wanted
  for (let number = 2; taken.has(name); number++) name = `${wanted.slice(0, most - String(number).length - 1)}_${number}`
  taken.add(name)
  return name
}
