import type { Socket } from 'node:net'

/** Connections to the listeners of all networks of a worker at a time: each of them is two descriptors of it. */
const mostOfWorker = 2_048

/** Bounds connections of all networks. */
export interface ConnectionBound {
  /** Makes the check of one network: whether it may have one more connection, which counts until it is closed. */
  network (): (client: Socket) => boolean
}

/** A network may have as many connections as are left for all: however many one has taken, there is room for another. */
export function createConnectionBound (most = mostOfWorker): ConnectionBound {
  let all = 0
  return {
    network () {
      let own = 0
      return client => {
        if (own >= most - all) return false
        own += 1
        all += 1
        client.once('close', () => {
          own -= 1
          all -= 1
        })
        return true
      }
    }
  }
}
