import { createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'

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
