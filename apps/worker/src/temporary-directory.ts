import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive, keepFresh, startTicks } from '@toolyard/runtime'
import { endLeftProcesses } from './left-processes.ts'

/** Names say whose they are: a process by its number and, where that can be told, the moment of its start. */
const named = /^toolyard-worker-(\d+)-(\d+)-/

/**
 * Makes a directory for all temporary files of this process, so that they go with it, and not before; and removes those of workers that
 * were killed, with the processes that they have left.
 *
 * @returns removes it.
 */
export function useTemporaryDirectory (): () => void {
  const place = tmpdir()
  sweep(place)
  const own = mkdtempSync(join(place, `toolyard-worker-${process.pid}-${startTicks(process.pid)}-`))
  process.env['TMPDIR'] = own
  const stopKeeping = keepFresh(own)
  return () => {
    stopKeeping()
    process.env['TMPDIR'] = place
    rmSync(own, { recursive: true, force: true })
  }
}

/** Processes first: by their worker's directory they are known. */
function sweep (place: string): void {
  const before = `${place}/`
  endLeftProcesses(path => path.startsWith(before) && isLeft(path.slice(before.length)))
  for (const name of readdirSync(place).filter(isLeft)) {
    try {
      rmSync(join(place, name), { recursive: true, force: true })
    } catch {
      // Another user's worker has left it, and that one's next worker removes it.
    }
  }
}

/** Whether a name, or a path that begins with it, is of a worker that is gone. */
function isLeft (name: string): boolean {
  const [, pid = '', start = ''] = named.exec(name) ?? []
  return pid !== '' && !isAlive(Number(pid), Number(start))
}
