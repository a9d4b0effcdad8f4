import { onAbort } from '../abort/on-abort.ts'

interface Waiting {
  begin: () => void
}

export interface TurnPatience {
  ms: number
  signal?: AbortSignal
}

/** The turn of a piece of work didn't come in time: nothing of it was done. */
export class TurnMissedError extends Error {
  override readonly name = 'TurnMissedError'
}

/** Lets work be done a little at a time. Owners take turns, so that one with much of it holds up no other. */
export class OwnerTurns {
  readonly #most: number
  #underWay = 0
  /** Who waits, by owner; the owner that is next stands first. */
  readonly #lines = new Map<string, Waiting[]>()

  /** @param most pieces of work at once. */
  constructor (most: number) {
    this.#most = most
  }

  /** @throws TurnMissedError; what the work throws. */
  async run<T> (owner: string, work: () => Promise<T>, patience: TurnPatience): Promise<T> {
    if (this.#underWay < this.#most) this.#underWay += 1
    else await this.#turn(owner, patience)
    try {
      return await work()
    } finally {
      if (!this.#beginNext()) this.#underWay -= 1
    }
  }

  async #turn (owner: string, { ms, signal }: TurnPatience): Promise<void> {
    if (signal?.aborted === true) throw new TurnMissedError()
    await new Promise<void>((resolve, reject) => {
      const line = this.#lines.get(owner) ?? []
      this.#lines.set(owner, line)
      const waiting = {
        begin: () => {
          stop()
          resolve()
        }
      }
      const miss = (): void => {
        stop()
        this.#leave(owner, waiting)
        reject(new TurnMissedError())
      }
      const timer = setTimeout(miss, ms)
      const off = onAbort([signal], miss)
      const stop = (): void => {
        clearTimeout(timer)
        off()
      }
      line.push(waiting)
    })
  }

  #leave (owner: string, waiting: Waiting): void {
    const line = (this.#lines.get(owner) ?? []).filter(other => other !== waiting)
    if (line.length > 0) this.#lines.set(owner, line)
    else this.#lines.delete(owner)
  }

  /** Gives a place that is free to the owner that is next, who then goes to the end. */
  #beginNext (): boolean {
    const [owner, line] = this.#lines.entries().next().value ?? []
    const waiting = line?.shift()
    if (owner === undefined || line === undefined || waiting === undefined) return false
    this.#lines.delete(owner)
    if (line.length > 0) this.#lines.set(owner, line)
    waiting.begin()
    return true
  }
}
