import { Turns } from './turns.ts'

/** Maps a list whose items take little time each, and much time in all. */
export async function mapInTurns<T, U> (items: readonly T[], map: (item: T, at: number) => U): Promise<U[]> {
  const turns = new Turns()
  const mapped: U[] = []
  for (const item of items) {
    // An item is a whole record.
    if (turns.isOver(valuesOfItem)) await turns.next()
    mapped.push(map(item, mapped.length))
  }
  return mapped
}

/** So that the clock is looked at for each. */
const valuesOfItem = 64
