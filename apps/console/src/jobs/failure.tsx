import type { JobView } from '@toolyard/client'
import { callErrors } from '@toolyard/contract/terms'
import type { VNode } from 'preact'
import { JsonTree } from '../parts/json-tree.tsx'

/** Why a job failed, and what its code means; nothing for one that didn't. */
export function Failure ({ job: { error } }: { job: JobView }): VNode | null {
  if (error === null) return null
  const { meaning, retryable } = Object.entries(callErrors).find(([code]) => code === error.code)?.[1] ?? { meaning: '', retryable: false }
  return (
    <section class='card failure' aria-label='Error'>
      <h2><code>{error.code}</code></h2>
      <pre class='text'>{error.message}</pre>
      <p class='soft'>{meaning}{retryable ? ' Running it again may help.' : ''}</p>
      {error.details !== undefined && <div class='json'><JsonTree name='details' value={error.details} depth={1} /></div>}
    </section>
  )
}
