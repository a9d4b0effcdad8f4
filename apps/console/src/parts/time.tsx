import type { VNode } from 'preact'
import { useNow } from './now.ts'
import { ago } from './times.ts'

/** A time as an age, `3 min ago`, with the exact one where somebody points. */
export function Time ({ at }: { at: string | null | undefined }): VNode | string {
  const now = useNow()
  if (at === null || at === undefined) return '–'
  const ms = Date.parse(at)
  return <time dateTime={at} title={exact(ms)}>{ago(ms, now)}</time>
}

/** A time to the second, as people write it where they are. */
export function exact (ms: number): string {
  return new Date(ms).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
}
