import { setTimeout as delay } from 'node:timers/promises'

/** Waits until `check` gives something other than undefined or false, and returns that. */
export async function waitFor<T> (
  what: string, check: () => T | undefined | false | Promise<T | undefined | false>, timeoutMs = 20_000
): Promise<T> {
  const deadline = Date.now() + timeoutMs
  for (;;) {
    const result = await check()
    if (result !== undefined && result !== false) return result
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`)
    await delay(10)
  }
}
