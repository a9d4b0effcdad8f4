import type { ComponentChildren, VNode } from 'preact'

/** For a place where there is nothing to show: what is missing, and what to do first. */
export function Empty ({ title, children }: { title: string, children?: ComponentChildren }): VNode {
  return <div class='empty'><p class='empty-title'>{title}</p>{children}</div>
}

/** Why something was not done; nothing where there is no error. */
export function Problem ({ error }: { error: Error | undefined }): VNode | null {
  return error === undefined ? null : <p class='problem banner' role='alert'>{error.message}</p>
}
