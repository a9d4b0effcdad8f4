import { setImmediate as turn } from 'node:timers/promises'
import { nearNames } from '@toolyard/contract/terms'

/** Names that are compared in one turn of the event loop. */
const namesOfTurn = 200
/** Names that an answer has. */
const most = 3

/** Finds the tools, or job types, that the unknown names of one request may have meant: one name after the other, a few in each turn. */
export class NearTools {
  readonly #visible: () => readonly string[]
  #last: Promise<unknown> = Promise.resolve()

  /** @param visible the names that the caller's key may know of. */
  constructor (visible: () => readonly string[]) {
    this.#visible = visible
  }

  /** The nearest names, best first. */
  async find (name: string): Promise<string[]> {
    const finding = this.#last.then(async () => await near(name, this.#visible()))
    this.#last = finding
    return await finding
  }
}

async function near (word: string, names: readonly string[]): Promise<string[]> {
  const found: ReturnType<typeof nearNames> = []
  for (let from = 0; from < names.length; from += namesOfTurn) {
    await turn()
    found.push(...nearNames(word, names.slice(from, from + namesOfTurn)))
  }
  return found.sort((left, right) => left.away - right.away).slice(0, most).map(({ name }) => name)
}
