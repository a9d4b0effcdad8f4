import { setImmediate as turn } from 'node:timers/promises'

/** Milliseconds of work after which others have a turn of the event loop. */
const shareMs = 10

/** Maps a list whose items take little time each, and much time in all. */
export async function mapInTurns<T, U> (items: readonly T[], map: (item: T) => U): Promise<U[]> {
  const mapped: U[] = []
  let began = performance.now()
  for (const item of items) {
    if (performance.now() - began > shareMs) {
      await turn()
      began = performance.now()
    }
    mapped.push(map(item))
  }
  return mapped
}
