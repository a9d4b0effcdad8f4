import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { orElse } from '@toolyard/contract/terms'
import type { Hierarchy } from './hierarchy.ts'

/** A group in which this takes longer goes on reading files, and there is no end to it: what the kernel has for it counts as held. */
const mostDropMs = 3_000
const dropsAtOnce = 2

/**
 * What the kernel has for groups, beside memory of processes and parts of files: names of files, which it drops when memory is needed,
 * and what it can't drop, such as names in a `/tmp` in memory and, where version 1 tells all of it in one number, buffers of pipes
 * and sockets. What is left when it was told to drop all that it can is held.
 */
export class KernelMemory {
  readonly #version: Hierarchy['version']
  readonly #held = new Map<string, number>()
  readonly #dropping = new Set<string>()

  constructor (version: Hierarchy['version']) {
    this.#version = version
  }

  /** Bytes in a group, those of groups below it too, of which the kernel may be able to drop some. */
  of (group: string): number {
    return this.#version === 2 ? statIn(group, ['slab_reclaimable']) : numberIn(join(group, 'memory.kmem.usage_in_bytes'))
  }

  /** Bytes that can't be dropped, as far as that is known. */
  heldIn (group: string): number {
    const known = this.#held.get(group)
    if (known === undefined) return 0
    const held = Math.min(known, this.of(group))
    this.#held.set(group, held)
    return held
  }

  held (): number {
    return [...this.#held.keys()].reduce((sum, group) => sum + this.heldIn(group), 0)
  }

  /** Another call may have the group by the time memory is short again. */
  forget (): void {
    this.#held.clear()
  }

  /** Drops what can be dropped in the group of which the most is unknown, where that is at least `least` bytes. Calls `dropped` then. */
  drop (groups: readonly string[], least: number, dropped: () => void): void {
    if (this.#dropping.size >= dropsAtOnce) return
    const unknown = groups.filter(group => !this.#dropping.has(group)).map(group => ({ group, bytes: this.of(group) - this.heldIn(group) }))
    const [most] = unknown.sort((one, other) => other.bytes - one.bytes)
    if (most === undefined || most.bytes < least) return
    const { group } = most
    const file = join(group, this.#version === 2 ? 'memory.reclaim' : 'memory.force_empty')
    // Kernels before 5.19 can't be told to.
    if (!existsSync(file)) return
    this.#dropping.add(group)
    const bytes = this.#version === 2 ? numberIn(join(group, 'memory.current')) : 0
    // A process, since it can be ended: threads that write such a file would be missing for the files of the worker.
    const writer = execFile('tee', [file], { timeout: mostDropMs, killSignal: 'SIGKILL', env: { PATH: process.env['PATH'] } }, error => {
      this.#dropping.delete(group)
      // The name of an error: it could not be started, and nothing is known.
      if (typeof error?.code === 'string' || !existsSync(file)) return
      this.#held.set(group, this.of(group))
      dropped()
    })
    // Version 2 says EAGAIN where it can't drop as much.
    writer.stdin?.on('error', () => {}).end(String(bytes))
  }
}

/** The number that a file of a group has; 0 for a group that is gone. */
export function numberIn (file: string): number {
  return Number(orElse(() => readFileSync(file, 'latin1'), '0'))
}

/** The sum of some lines of a group's statistics of memory. */
export function statIn (group: string, names: readonly string[]): number {
  const lines = orElse(() => readFileSync(join(group, 'memory.stat'), 'latin1'), '').split('\n').map(line => line.split(' '))
  return lines.filter(([name = '']) => names.includes(name)).reduce((sum, [, bytes]) => sum + Number(bytes), 0)
}
