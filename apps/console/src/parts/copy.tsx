import type { VNode } from 'preact'
import { useState } from 'preact/hooks'

/** Copies a text; says so. */
export function Copy ({ text, label }: { text: string, label: string }): VNode {
  const [isDone, setDone] = useState(false)
  async function copy (): Promise<void> {
    await navigator.clipboard.writeText(text)
    setDone(true)
    setTimeout(() => { setDone(false) }, 2_000)
  }
  // Browsers offer the clipboard over https and on this machine alone.
  if (!window.isSecureContext) return <></>
  return <button type='button' class='quiet' aria-label={label} onClick={() => { void copy() }}>{isDone ? 'Copied' : 'Copy'}</button>
}
