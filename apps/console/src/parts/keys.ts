import { useEffect, useRef } from 'preact/hooks'

/** Does something for keys that are pressed while nobody types, and no dialog is open. */
export function useKeys (actions: Readonly<Record<string, () => void>>): void {
  const latest = useRef(actions)
  latest.current = actions
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || document.querySelector('dialog[open]') !== null) return
      const target = event.target instanceof HTMLElement ? event.target : undefined
      if (target?.closest('input, textarea, select') != null) {
        // Out of the field first: the next one is for the page.
        if (event.key === 'Escape') target.blur()
        return
      }
      const action = latest.current[event.key]
      if (action === undefined) return
      event.preventDefault()
      action()
    }
    document.addEventListener('keydown', press)
    return () => { document.removeEventListener('keydown', press) }
  }, [])
}
