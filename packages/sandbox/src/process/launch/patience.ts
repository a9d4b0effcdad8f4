const tickMs = 1_000

/** Counts the seconds for which a process is asked for something and says nothing. */
interface Patience {
  asked (): void
  answered (): void
  /** It has said anything. */
  heard (): void
}

/** Calls `onEnd` once those are `seconds`. They are counted one by one, since this process may have been stopped with the other. */
export function createPatience (seconds: number, onEnd: () => void): Patience {
  let open = 0
  let silent = 0
  let tick: NodeJS.Timeout | undefined
  return {
    asked () {
      open += 1
      if (tick !== undefined) return
      silent = 0
      tick = setInterval(() => {
        silent += 1
        if (silent === seconds) onEnd()
      }, tickMs).unref()
    },
    answered () {
      open -= 1
      if (open > 0) return
      clearInterval(tick)
      tick = undefined
    },
    heard () { silent = 0 }
  }
}
