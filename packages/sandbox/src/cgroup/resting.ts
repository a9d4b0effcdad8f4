import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { orElse } from '@toolyard/contract/terms'
import type { Hierarchy } from './hierarchy.ts'

/** Of a group's share of the processor: `own` is the kernel's default, and `resting` the least that it knows. */
const weights = {
  1: { file: 'cpu.shares', own: '1024', resting: '2' },
  2: { file: 'cpu.weight', own: '100', resting: '1' }
} as const

/**
 * Gives what says whether a process rests: its share of the processor is next to nothing then, where others want it. It does
 * nothing for a process that is in no share of its own.
 *
 * @param all the group of all tools, where the processor is shared
 */
export function restingIn (all: string, version: Hierarchy['version'], pid: number): (isResting: boolean) => void {
  const groups = orElse(() => readFileSync(`/proc/${pid}/cgroup`, 'latin1'), '').split('\n').map(line => line.split('/').slice(-2))
  const [, share] = groups.find(([above, own = '']) => above === basename(all) && own.startsWith('share-')) ?? []
  if (share === undefined) return () => {}
  const { file, own, resting } = weights[version]
  return isResting => { orElse(() => { writeFileSync(join(all, share, file), isResting ? resting : own) }, undefined) }
}
