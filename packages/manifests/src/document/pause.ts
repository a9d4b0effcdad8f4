import { nextTurn } from '@toolyard/runtime'

/** How long work may go on before everything else gets a turn, in milliseconds. */
const turnMs = 5

/**
 * Makes what long work awaits between its parts: a turn of the event loop for everything else, whenever the last one is
 * some milliseconds ago. The first one is always given.
 */
export function createPause (): () => Promise<void> {
  let turned = -Infinity
  return async () => {
    if (performance.now() - turned < turnMs) return
    await nextTurn()
    turned = performance.now()
  }
}
