import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive, keepFresh, startTicks } from '@toolyard/runtime'
import { endLeftProcesses } from './left-processes.ts'

/** Names say whose they are: a process by its number and, where that can be told, the moment of its start. */
const named = /^toolyard-worker-(\d+)-(\d+)-/

/** How often a worker looks whether its directory is there, in milliseconds. */
const lookMs = 1_000

interface TemporaryDirectory {
  /** Calls `onGone` when somebody removes it. What boxes are made of is there, so the worker is of no use then. */
  watch: (onGone: (directory: string) => void) => void
  remove: () => void
}

/**
 * Makes a directory for all temporary files of this process, so that they go with it, and not before; and removes those of workers that
 * were killed, with the processes that they have left.
 */
export function useTemporaryDirectory (): TemporaryDirectory {
  const place = tmpdir()
  sweep(place)
  const own = mkdtempSync(join(place, `toolyard-worker-${process.pid}-${startTicks(process.pid)}-`))
  process.env['TMPDIR'] = own
  const stopKeeping = keepFresh(own)
  let timer: NodeJS.Timeout | undefined
  return {
    watch: onGone => {
      timer = setInterval(() => {
        if (existsSync(own)) return
        clearInterval(timer)
        onGone(own)
      }, lookMs).unref()
    },
    remove: () => {
      clearInterval(timer)
      stopKeeping()
      process.env['TMPDIR'] = place
      rmSync(own, { recursive: true, force: true })
    }
  }
}

/** Processes first: by their worker's directory they are known. */
function sweep (place: string): void {
  const before = `${place}/`
  endLeftProcesses(path => path.startsWith(before) && isLeft(path.slice(before.length)))
  for (const name of readdirSync(place).filter(isLeft)) {
    const path = join(place, name)
    try {
      // Who puts a directory there for root to remove could lead the removal elsewhere.
      if (lstatSync(path).uid === process.getuid?.()) rmSync(path, { recursive: true, force: true })
    } catch {
      // Another worker removes it, or nobody can.
    }
  }
}

/** Whether a name, or a path that begins with it, is of a worker that is gone. */
function isLeft (name: string): boolean {
  const [, pid = '', start = ''] = named.exec(name) ?? []
  return pid !== '' && !isAlive(Number(pid), Number(start))
}
