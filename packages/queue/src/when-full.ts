/**
 * Lua that lets a script go on in a Redis that is full. Redis refuses a script's first write where that may take memory;
 * whatever comes after another write is allowed, in all versions. `PERSIST` takes none, and leaves a key without a time
 * to live as it is.
 *
 * It is for what frees memory in the end, or holds a job that runs; new jobs are refused.
 *
 * @param key Lua that gives such a key, of the script's own slot
 */
export function goOnWhenFull (key: string): string {
  return `redis.call('PERSIST', ${key})`
}
