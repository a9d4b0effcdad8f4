import type { JobView } from '@toolyard/client'
import type { VNode } from 'preact'
import { useAccess } from '../access/context.ts'
import { Copy } from '../parts/copy.tsx'
import { snippetsOf } from './snippet-texts.ts'

export function Snippets ({ job }: { job: Pick<JobView, 'tool' | 'input' | 'session'> }): VNode {
  const { api } = useAccess()
  return (
    <section class='card'>
      <h2>Call it yourself</h2>
      {snippetsOf(job, location.origin + api.base).map(({ name, text }) => (
        <details key={name} class='snippet'>
          <summary>{name}</summary>
          <pre class='code'>{text}</pre>
          <Copy text={text} label={`Copy the ${name} lines`} />
        </details>
      ))}
    </section>
  )
}
