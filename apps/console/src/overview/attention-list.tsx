import type { VNode } from 'preact'
import type { Attention } from './attention.ts'

/** What needs attention, each with what to do and where to see more. */
export function AttentionList ({ items, isKnown }: { items: readonly Attention[], isKnown: boolean }): VNode {
  return (
    <section class='attention' aria-label='What needs attention' aria-live='polite' aria-busy={!isKnown}>
      {items.length === 0 && <p class='well'>{isKnown ? <><span aria-hidden='true'>✓</span> Nothing needs your attention.</> : ' '}</p>}
      {items.length > 0 && (
        <ul>
          {items.map(({ severity, text, advice, href }) => (
            <li key={text} class={severity}>
              <span class='sign' aria-hidden='true'>{severity === 'bad' ? '!' : '·'}</span>
              <p><a href={href}>{text}</a> <span class='advice'>{advice.split('`').map((part, index) => index % 2 === 0 ? part : <code key={part}>{part}</code>)}</span></p>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}
