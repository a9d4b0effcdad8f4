/** What a process knows of so many things at once; then it forgets all of them, and asks Redis anew. */
const maxViews = 10_000

/** What a process knows by name of what all processes share; a name that is new begins with what `make` gives. */
export class Views<View> {
  readonly #make: () => View
  readonly #views = new Map<string, View>()

  constructor (make: () => View) {
    this.#make = make
  }

  /** The view of a name; who holds on to it keeps it, whatever is forgotten. */
  of (name: string): View {
    const known = this.#views.get(name)
    if (known !== undefined) return known
    if (this.#views.size >= maxViews) this.#views.clear()
    const view = this.#make()
    this.#views.set(name, view)
    return view
  }
}
