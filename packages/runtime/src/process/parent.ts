/** When the parent is gone; until the process can stop in order, it ends. */
let whenGone = (): void => { process.exit(1) }
let isWatching = false

/**
 * To be called first of all: a process that its parent started with an IPC channel ends when that closes. A parent that
 * was killed can't stop it, and nobody else knows of it.
 */
export function watchParent (): void {
  onParentGone(whenGone)
}

/** From now on this is done when the parent is gone, and at once if it is. */
export function onParentGone (stop: () => void): void {
  whenGone = stop
  // Undefined where there is no such parent.
  if (process.connected === false) stop()
  if (isWatching) return
  isWatching = true
  process.once('disconnect', () => { whenGone() })
}
