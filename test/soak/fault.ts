import { closeSync, openSync, writeSync } from 'node:fs'
import type { Ledger } from './calls.ts'
import type { Random } from './random.ts'
import type { Member, World } from './world.ts'

/** A time in which something was stopped, in milliseconds since the soak began. */
export interface Interval {
  what: 'worker stopped' | 'failover' | 'Redis away'
  from: number
  to: number
}

export interface FaultParts {
  world: World
  ledger: Ledger
  random: Random
  intervals: Interval[]
}

/** Brings a fault, and takes it away again. */
export type Fault = (parts: FaultParts) => Promise<void>

/** Picks a member that no other fault holds; one of each kind is always left alone. */
export async function withMember ({ world, random }: FaultParts, kind: Member['kind'], act: (member: Member) => Promise<void>): Promise<void> {
  const free = world.members.filter(member => member.kind === kind && !member.held)
  if (free.length < 2) return
  const member = random.pick(free)
  member.held = true
  try {
    await act(member)
  } finally {
    member.held = false
  }
}

/** Writes to a file until its disk is full, to the last byte. */
export function fill (file: string): void {
  const descriptor = openSync(file, 'w')
  for (const block of [Buffer.alloc(1 << 20), Buffer.alloc(1 << 10)]) {
    try {
      for (;;) writeSync(descriptor, block)
    } catch {
      // There is no room left, as it should be.
    }
  }
  closeSync(descriptor)
}
