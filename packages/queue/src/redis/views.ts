/** What a process knows of so many things at once, unless it is told otherwise; then it forgets all of them, and asks Redis anew. */
const maxViews = 10_000

/** What a process knows by name of what all processes share; a name that is new begins with what `make` gives. */
export class Views<View> {
  readonly #make: (name: string) => View
  readonly #max: number
  readonly #views = new Map<string, View>()

  constructor (make: (name: string) => View, max = maxViews) {
    this.#make = make
    this.#max = max
  }

  /** The view of a name; who holds on to it keeps it, whatever is forgotten. */
  of (name: string): View {
    const known = this.#views.get(name)
    if (known !== undefined) return known
    if (this.#views.size >= this.#max) this.#views.clear()
    const view = this.#make(name)
    this.#views.set(name, view)
    return view
  }
}
