import type { VNode } from 'preact'
import { Name } from '../parts/long-text.tsx'
import type { Attention } from './situation.ts'

interface AttentionListProps {
  items: readonly Attention[]
  isKnown: boolean
  /** Resumes a queue; undefined for a key that may not. */
  onResume: ((queue: string) => void) | undefined
}

export function AttentionList ({ items, isKnown, onResume }: AttentionListProps): VNode {
  return (
    <section class='attention' aria-label='What needs attention' aria-live='polite' aria-busy={!isKnown}>
      {items.length === 0 && <p class='well'>{isKnown ? <><span aria-hidden='true'>✓</span> Nothing needs your attention.</> : ' '}</p>}
      {items.length > 0 && (
        <ul>
          {items.map(({ severity, text, advice, href, resumes }) => (
            <li key={text} class={severity}>
              <span class='sign' aria-hidden='true'>{severity === 'bad' ? '!' : '·'}</span>
              <p><a href={href}><Name text={text} /></a> <span class='advice'>{advice.split('`').map((part, index) => index % 2 === 0 ? part : <code key={part}>{part}</code>)}</span></p>
              {resumes !== undefined && onResume !== undefined && <button type='button' class='small-button' aria-label={`Resume the queue ${resumes}`} onClick={() => { onResume(resumes) }}>Resume</button>}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
