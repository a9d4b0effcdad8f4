interface Want {
  count: number
  /** Bytes that one takes; 0 before one was measured. */
  bytes: number
  /** When it was called last; the highest number is the latest. */
  lastCall: number
}

/**
 * How many processes each tool may keep within a budget of bytes. Those that were called last come first, so that no
 * tool takes the place of one that is used more; of tools that were never called, the first ones.
 */
export function targetsOf<Key> (wants: ReadonlyMap<Key, Want>, maxBytes: number): Map<Key, number> {
  let left = maxBytes
  const targets = new Map<Key, number>()
  for (const [key, { count, bytes }] of [...wants].sort(([, a], [, b]) => b.lastCall - a.lastCall)) {
    const fit = left <= 0 ? 0 : bytes === 0 ? count : Math.min(count, Math.floor(left / bytes))
    targets.set(key, fit)
    left -= fit * bytes
  }
  return targets
}
