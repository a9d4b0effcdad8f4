import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** FIFOs that nobody has used yet, in a directory that is this user's alone. */
export interface PipeStock {
  /** Takes as many paths; whoever opens the FIFOs removes them. */
  take (count: number): Promise<string[]>
  /** Removes them, those that are being made too. */
  close (): Promise<void>
}

/** FIFOs that are made in one go: a process that makes one takes as long as one that makes a hundred. */
const batch = 96
const low = 48

/**
 * Keeps FIFOs in stock, which `make` makes at the given paths. Node itself can't make pipes, only pairs of sockets. Each
 * FIFO is used once, so that nothing can be left in it.
 */
export function createPipeStock (make: (paths: string[]) => Promise<void>): PipeStock {
  const directory = mkdtempSync(join(tmpdir(), 'toolyard-pipes-'))
  const stock: string[] = []
  let count = 0
  let filling: Promise<void> | undefined

  async function fill (): Promise<void> {
    const paths = Array.from({ length: batch }, () => join(directory, String(count++)))
    await make(paths)
    stock.push(...paths)
  }

  function refill (): Promise<void> {
    filling ??= fill().finally(() => { filling = undefined })
    return filling
  }

  return {
    async take (wanted) {
      while (stock.length < wanted) await refill()
      const taken = stock.splice(0, wanted)
      // Whoever waits for the next ones is told when that fails.
      if (stock.length < low) refill().catch(() => {})
      return taken
    },
    async close () {
      await filling?.catch(() => {})
      // What a lost process had begun may still make some.
      await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 })
    }
  }
}
