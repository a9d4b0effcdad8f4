import type { Box, BoxNetwork, CallGroup, Started } from '@toolyard/sandbox'
import type { RunContext } from '../run/outcome.ts'
import type { Ready, Unfit } from './slot.ts'

/** Kept ready before, a call's now; and the group that it is bounded in. */
export interface Served {
  start: Started
  group: CallGroup | undefined
}

/** The group is removed with what was started in it. */
export async function inGroup (group: CallGroup | undefined, started: Ready<Started> | Unfit): Promise<Ready<Served> | Unfit> {
  if (started.kind === 'unfit') {
    await group?.remove()
    return started
  }
  return {
    kind: 'ready',
    bytes: started.bytes,
    serve (plan, stdin) {
      const start = started.serve(plan, stdin)
      return start && { start, group }
    },
    async end () {
      await started.end()
      await group?.remove()
    }
  }
}

export interface CallOfReady {
  box: Box | undefined
  network: BoxNetwork | undefined
  context: RunContext
  /** Gets what bounds the process, to be removed behind the call. */
  onGroup: (group: CallGroup) => void
  /** Gets what is to be called when the call has ended. */
  onEnd: (ended: () => void) => void
}
