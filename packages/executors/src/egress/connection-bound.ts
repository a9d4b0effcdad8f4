import type { Socket } from 'node:net'

/** Connections to the listeners of all networks of a worker at a time: each of them is two descriptors of it. */
const mostOfWorker = 2_048

/** Bounds connections of all networks. */
export interface ConnectionBound {
  /** Makes the check of a network of a tenant: whether it may have one more connection, which counts until it is closed. */
  of (tenant: string | undefined): (client: Socket) => boolean
}

/** A tenant may have as many connections, in all of its networks, as are left for all: however many one has, there is room for another. */
export function createConnectionBound (most = mostOfWorker): ConnectionBound {
  const open = new Map<string | undefined, number>()
  let all = 0
  const count = (tenant: string | undefined, change: 1 | -1): void => {
    const own = (open.get(tenant) ?? 0) + change
    all += change
    if (own === 0) open.delete(tenant)
    else open.set(tenant, own)
  }
  return {
    of: tenant => client => {
      if ((open.get(tenant) ?? 0) >= most - all) return false
      count(tenant, 1)
      client.once('close', () => { count(tenant, -1) })
      return true
    }
  }
}
