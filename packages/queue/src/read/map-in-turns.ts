import { setImmediate as turn } from 'node:timers/promises'

/** Milliseconds of work after which others have a turn of the event loop. */
const shareMs = 10

/** Maps a list of which each item takes little time, and all of them may take much. */
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
