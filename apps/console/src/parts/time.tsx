import { createContext, type VNode } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
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

/** The time by which the ages on a page are told, in milliseconds since 1970. */
export const NowContext = createContext(0)

/** The time by which ages are told; a page is drawn again as it passes. */
export function useNow (): number {
  return useContext(NowContext)
}

/** A clock that ticks every second, for one `NowContext`. */
export function useClock (): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => { setNow(Date.now()) }, 1_000)
    return () => { clearInterval(timer) }
  }, [])
  return now
}
