/** How many values a process keeps, where nothing else is said. */
const defaultMax = 10_000

/** Values by name, each made when its name is first asked for. With too many of them, all are forgotten, and made anew. */
export class BoundedMap<Value> {
  readonly #make: (name: string) => Value
  readonly #max: number
  readonly #values = new Map<string, Value>()

  constructor (make: (name: string) => Value, max = defaultMax) {
    this.#make = make
    this.#max = max
  }

  /** The value of a name. A caller that keeps it can use it on, also when the map has forgotten it. */
  of (name: string): Value {
    const known = this.#values.get(name)
    if (known !== undefined) return known
    if (this.#values.size >= this.#max) this.#values.clear()
    const value = this.#make(name)
    this.#values.set(name, value)
    return value
  }
}
