import { lutimes, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** Programs that clean /tmp remove what nobody has used for some days, such as systemd-tmpfiles after 10. */
const halfDayMs = 43_200_000

/**
 * Gives all in a temporary directory the times of now, again and again: what a process has made at its start, and needs to its
 * end, would be gone one day. No link is followed.
 *
 * @returns ends it.
 */
export function keepFresh (directory: string, everyMs = halfDayMs): () => void {
  const timer = setInterval(() => { void refresh(directory, new Date()) }, everyMs).unref()
  return () => { clearInterval(timer) }
}

/** What is removed meanwhile is left out. */
async function refresh (path: string, now: Date): Promise<void> {
  await lutimes(path, now, now).catch(() => {})
  for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
    const inner = join(path, entry.name)
    if (entry.isDirectory()) await refresh(inner, now)
    else await lutimes(inner, now, now).catch(() => {})
  }
}
