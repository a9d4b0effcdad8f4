import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

export interface Loaded<T> {
  data: T | undefined
  /** Why the last attempt failed; what was loaded before stays. */
  error: Error | undefined
  reload: () => void
}

/**
 * Loads what a page shows, again every `everyMs` while somebody looks at it, and at once when `key` changes.
 *
 * @param key names what is loaded.
 */
export function useLoad<T> (key: string, load: (signal: AbortSignal) => Promise<T>, everyMs?: number): Loaded<T> {
  const [state, setState] = useState<{ key: string, data?: T, error?: Error }>({ key })
  const [turn, setTurn] = useState(0)
  const latest = useRef(load)
  latest.current = load

  useEffect(() => {
    const ending = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    async function run (): Promise<void> {
      if (!document.hidden) {
        try {
          const data = await latest.current(ending.signal)
          if (!ending.signal.aborted) setState({ key, data })
        } catch (error) {
          if (ending.signal.aborted) return
          const failed = { key, error: asError(error) }
          setState(known => known.key === key && known.data !== undefined ? { ...failed, data: known.data } : failed)
        }
      }
      if (everyMs !== undefined && !ending.signal.aborted) timer = setTimeout(() => { void run() }, everyMs)
    }
    void run()
    return () => { ending.abort(); clearTimeout(timer) }
  }, [key, turn, everyMs])

  const reload = useCallback(() => { setTurn(count => count + 1) }, [])
  const isOwn = state.key === key
  return { data: isOwn ? state.data : undefined, error: isOwn ? state.error : undefined, reload }
}

export function asError (error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
