import { randomBytes } from 'node:crypto'
import { closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** For stdin, stdout and stderr of one call: a file and two FIFOs, which no other call ever has. */
export interface Channel {
  paths: { stdin: string, stdout: string, stderr: string }
  /** Descriptors to read stdout and stderr from, which don't block; whoever took the channel closes them. */
  reading: readonly [stdout: number, stderr: number]
  /**
   * The other end of the pipe that is stdin where that stays open, or that the order comes by. Whoever starts the process
   * closes it, and `held` once the process has its end.
   */
  writing?: { pipe: number, held: number }
  /** Where stdin is filled later: its file, opened for writing, and the path of the pipe that the order comes by. */
  later?: { stdin: number, order: string }
  /** Closes these descriptors and removes the paths; a second call does nothing. A helper that opened the paths has removed them itself. */
  abandon: () => void
}

export interface ChannelStock {
  /** Takes a channel, with `input` for stdin; `undefined`: stdin is a FIFO as well; `later`: it is a file that is still empty. */
  take (input: string | undefined | typeof later): Promise<Channel>
  /** Fulfilled when nothing is being made. */
  settled (): Promise<void>
}

export const later = Symbol('later')

/** FIFOs are made in one go, since a process that makes one takes about as long as one that makes many. */
const batch = 32
/** More are made when no more than these are left, so that no call waits for them. */
const low = 8

/** Keeps channels in a directory, whose FIFOs `make` makes at the given paths: Node itself can't make pipes, only pairs of sockets. */
export function createChannelStock (directory: string, makeFifos: (paths: string[]) => Promise<void>): ChannelStock {
  const free: string[] = []
  let count = 0
  /** Other stocks may be in the same directory. */
  const own = join(directory, randomBytes(6).toString('hex'))
  let filling: Promise<void> | undefined

  async function fill (): Promise<void> {
    const made = Array.from({ length: batch }, () => `${own}-${count++}`)
    const paths = made.flatMap(place => [`${place}-out`, `${place}-err`])
    try {
      await makeFifos(paths)
    } catch (error) {
      // Some of them may be there, and take the room that is missing.
      for (const path of paths) rmSync(path, { force: true })
      throw error
    }
    free.push(...made)
  }

  function refill (): Promise<void> {
    filling ??= fill().finally(() => { filling = undefined })
    return filling
  }

  return {
    async take (input) {
      while (free.length === 0) await refill()
      const place = free.shift() ?? ''
      // A caller that finds none left gets the reason.
      if (free.length <= low) refill().catch(() => {})
      if (typeof input !== 'string') await makeFifos([pipeOf(place, input)])
      return openChannel(place, input)
    },
    settled: async () => { await filling?.catch(() => {}) }
  }
}

function pipeOf (place: string, input: undefined | typeof later): string {
  return `${place}-${input === later ? 'order' : 'in'}`
}

function openChannel (place: string, input: string | undefined | typeof later): Channel {
  const [stdin, stdout, stderr] = [`${place}-in`, `${place}-out`, `${place}-err`]
  const opened: number[] = []
  const files = [stdin, stdout, stderr]
  const abandon = (): void => {
    for (const fd of opened.splice(0)) closeSync(fd)
    for (const file of files) rmSync(file, { force: true })
  }
  try {
    // Also when it is empty: no other process has this file, and /dev/null is the machine's.
    if (typeof input === 'string') writeFileSync(stdin, input, { flag: 'wx', mode: 0o400 })
    for (const file of [stdout, stderr]) opened.push(openSync(file, constants.O_RDONLY | constants.O_NONBLOCK))
    const [out = -1, err = -1] = opened
    const channel = { paths: { stdin, stdout, stderr }, reading: [out, err] as const, abandon }
    if (typeof input === 'string') return channel
    const pipe = pipeOf(place, input)
    files.push(pipe)
    // Whoever opens one end of a FIFO waits for the other one; this is both, until the process is there.
    opened.push(openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK))
    opened.push(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK))
    const [,, held = -1, writing = -1] = opened
    const open = { ...channel, writing: { pipe: writing, held } }
    if (input === undefined) return open
    const file = openSync(stdin, 'wx', 0o400)
    opened.push(file)
    return { ...open, later: { stdin: file, order: pipe } }
  } catch (error) {
    abandon()
    throw error
  }
}
