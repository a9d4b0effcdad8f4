import type { ComponentChildren, VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface DialogProps {
  title: string
  onClose: () => void
  children: ComponentChildren
}

/** A dialog above the page; the browser keeps the focus in it, and gives it back at its end. Esc closes it. */
export function Dialog ({ title, onClose, children }: DialogProps): VNode {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const opener = document.activeElement
    element.current?.showModal()
    // The browser gives the focus back only at Esc: else the dialog is taken out of the page, and not closed.
    return () => { if (opener instanceof HTMLElement) opener.focus() }
  }, [])
  return (
    <dialog ref={element} aria-labelledby='dialog-title' onClose={onClose}>
      <h2 id='dialog-title'>{title}</h2>
      {children}
    </dialog>
  )
}

interface ConfirmProps {
  title: string
  /** The words of the button that does it. */
  action: string
  onConfirm: () => void
  onClose: () => void
  children: ComponentChildren
}

/** Asks before something is done that can't be undone. */
export function Confirm ({ title, action, onConfirm, onClose, children }: ConfirmProps): VNode {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <div class='actions end'>
        <button type='button' onClick={onClose}>Back</button>
        <button type='button' class='danger' onClick={() => { onConfirm(); onClose() }}>{action}</button>
      </div>
    </Dialog>
  )
}
