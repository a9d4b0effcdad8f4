/**
 * Lua that lets a script go on in a Redis that is full. Redis refuses a script's first write where it may take memory,
 * and allows what comes after another write. `PERSIST` takes none, and leaves a key without a time to live as it is. Only
 * for what frees memory in the end, or for jobs that run. See docs/decisions/0005-fail-fast-commands.md.
 *
 * @param key Lua that gives such a key, of the script's own slot
 */
export function goOnWhenFull (key: string): string {
  return `redis.call('PERSIST', ${key})`
}
