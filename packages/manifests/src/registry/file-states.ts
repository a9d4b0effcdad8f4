import { lstat, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode } from '@toolyard/contract/terms'
import { createPause } from '../document/pause.ts'

/** Some file systems tell when a directory was changed in steps of so many milliseconds. */
const coarseMs = 3_000
const gone = '?'
/** So many files are looked at together: thousands in one turn of the event loop hold up everything else. */
const filesAtOnce = 100

/**
 * Says by one text in which state files are. Those that aren't there are not looked for again while their directories stay as
 * they are: beside each skill, several names are looked for.
 *
 * @param now in milliseconds, by a clock that is never set
 */
export function createFileStates (now: () => number = () => performance.now()): (files: readonly string[]) => Promise<string> {
  let missing = new Set<string>()
  let directories = new Map<string, { state: string, since: number }>()
  return async files => {
    const at = now()
    const before = directories
    directories = new Map(await inParts([...new Set([...missing].map(file => dirname(file)))], async directory => {
      const state = await stateOf(directory)
      const known = before.get(directory)
      return [directory, known?.state === state ? known : { state, since: at }] as const
    }))
    const isKnownMissing = (file: string): boolean => missing.has(file) && at - (directories.get(dirname(file))?.since ?? at) > coarseMs
    const states = await inParts(files, async file => [file, isKnownMissing(file) ? gone : await stateOf(file)] as const)
    const lost = states.filter(([, state]) => state === gone).map(([file]) => file)
    missing = new Set((await inParts(lost, async file => isKnownMissing(file) || await isMissing(file) ? [file] : [])).flat())
    return states.map(([file, state]) => `${file}:${state}`).join('\n')
  }
}

async function inParts<Found> (paths: readonly string[], look: (path: string) => Promise<Found>): Promise<Found[]> {
  const pause = createPause()
  const found: Found[] = []
  for (let at = 0; at < paths.length; at += filesAtOnce) {
    await pause()
    found.push(...await Promise.all(paths.slice(at, at + filesAtOnce).map(look)))
  }
  return found
}

async function stateOf (file: string): Promise<string> {
  const status = await stat(file, { bigint: true }).catch(() => undefined)
  // An archive sets the time of a file, and a number of inode is given again: only the time of the last change can't be set.
  return status === undefined ? gone : `${status.ino}:${status.size}:${status.ctimeNs}`
}

/** Not so a link that leads nowhere, or what may not be looked at: these can change without their directory. */
async function isMissing (file: string): Promise<boolean> {
  return await lstat(file).then(() => false, (error: unknown) => errorCode(error) === 'ENOENT')
}
