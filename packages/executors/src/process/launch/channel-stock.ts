import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openChannel, type Channel, type ChannelEnds } from './channel.ts'

/** A channel for one call. */
export interface OpenChannel extends ChannelEnds {
  /**
   * To be called once, when its reading ends are closed.
   *
   * @param reusable whether no process of the call is left
   */
  release: (reusable: boolean) => void
}

/** The channels of one worker. A few stay open between calls. */
export interface ChannelStock {
  /** Takes a channel, with `input` for stdin. */
  take (input: string): Promise<OpenChannel>
  /** Closes those that are free; the others are closed when they are released. */
  close (): Promise<void>
}

/** Made in one go, since a process that makes one FIFO takes as long as one that makes several; and kept. */
const batch = 8

/** Keeps channels, whose FIFOs `make` makes at the given paths: Node itself can't make pipes, only pairs of sockets. */
export function createChannelStock (makeFifos: (paths: string[]) => Promise<void>): ChannelStock {
  const free: Channel[] = []
  let closed = false
  let filling: Promise<void> | undefined

  async function fill (): Promise<void> {
    const directory = mkdtempSync(join(tmpdir(), 'toolyard-pipes-'))
    try {
      const files = Array.from({ length: batch }, (_, at) => ({ stdin: join(directory, `${at}-stdin`), stdout: join(directory, `${at}-stdout`), stderr: join(directory, `${at}-stderr`) }))
      await makeFifos(files.flatMap(({ stdout, stderr }) => [stdout, stderr]))
      for (const each of files) free.push(openChannel(each))
    } finally {
      // What a lost process had begun may still make some.
      await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 })
    }
  }

  function refill (): Promise<void> {
    filling ??= fill().finally(() => { filling = undefined })
    return filling
  }

  /** Undefined when it can't be used any more. */
  function open (channel: Channel, input: string): OpenChannel | undefined {
    let ends: ChannelEnds | undefined
    try {
      ends = channel.open(input)
    } finally {
      if (ends === undefined) channel.close()
    }
    if (ends === undefined) return undefined
    return {
      ...ends,
      release (reusable) {
        if (!reusable || closed || free.length >= batch) return channel.close()
        channel.clear()
        free.push(channel)
      }
    }
  }

  return {
    async take (input) {
      for (;;) {
        const channel = free.pop()
        const opened = channel === undefined ? await refill() : open(channel, input)
        if (opened !== undefined) return opened
      }
    },
    async close () {
      closed = true
      await filling?.catch(() => {})
      for (const channel of free.splice(0)) channel.close()
    }
  }
}
