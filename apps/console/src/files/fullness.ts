import type { SessionView } from '@toolyard/contract'

/** The part of its quota from which a session is almost full. */
const almost = 0.9

/** Whether calls can write into a session no more, or soon can't; undefined for one with room. */
export function fullnessOf ({ used_bytes: used, quota_bytes: quota }: Pick<SessionView, 'used_bytes' | 'quota_bytes'>): 'full' | 'almost full' | undefined {
  if (used === null || used < almost * quota) return undefined
  return used < quota ? 'almost full' : 'full'
}
