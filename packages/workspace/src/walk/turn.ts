/** Short calls that are run in one turn of the event loop. */
const most = 4

let taken = 0
let waiting: Array<() => void> = []

/**
 * Lets the event loop turn where a few short calls were run since it last did. They wait for nothing while they run, so
 * that any number of them in a row would keep it from everything else; but what several do in one turn, such as asking
 * Redis for something, goes out together.
 */
export async function takeTurn (): Promise<void> {
  if (taken === 0) setImmediate(begin)
  taken += 1
  if (taken > most) await new Promise<void>(resolve => { waiting.push(resolve) })
}

function begin (): void {
  const now = waiting.slice(0, most)
  waiting = waiting.slice(most)
  taken = now.length + waiting.length
  if (taken > 0) setImmediate(begin)
  for (const resolve of now) resolve()
}
