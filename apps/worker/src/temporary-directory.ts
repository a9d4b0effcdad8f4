import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Names say whose they are: a process by its number and, where that can be told, the moment of its start. */
const named = /^toolyard-worker-(\d+)-(\d+)-/

/**
 * Makes a directory for all temporary files of this process, so that they go with it; and removes those of workers that
 * were killed.
 *
 * @returns removes it.
 */
export function useTemporaryDirectory (): () => void {
  const place = tmpdir()
  sweep(place)
  const own = mkdtempSync(join(place, `toolyard-worker-${process.pid}-${startOf(process.pid) ?? 0}-`))
  process.env['TMPDIR'] = own
  return () => {
    process.env['TMPDIR'] = place
    rmSync(own, { recursive: true, force: true })
  }
}

function sweep (place: string): void {
  for (const name of readdirSync(place)) {
    const [, pid = '', start = ''] = named.exec(name) ?? []
    if (pid === '' || isAlive(Number(pid), Number(start))) continue
    try {
      rmSync(join(place, name), { recursive: true, force: true })
    } catch {
      // Another user's worker has left it, and that one's next worker removes it.
    }
  }
}

function isAlive (pid: number, start: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false
  }
  return (startOf(pid) ?? 0) === start
}

/** Clock ticks from boot to the process's start: field 22 of `stat`, counted behind the name, which may hold anything. */
function startOf (pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19])
  } catch {
    return undefined
  }
}
