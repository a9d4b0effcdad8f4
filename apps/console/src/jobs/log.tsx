import type { LogEntry } from '@toolyard/client'
import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** Made once: to make a formatter takes longer than to use it, and a log has thousands of lines. */
const clock = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit', second: '2-digit', hour12: false })

/** Lines below which a reader counts as being at the end, in pixels. */
const nearEnd = 40

/** The lines that a tool has written, which grow while it runs; the end stays in sight where it was. */
export function Log ({ lines, isLive }: { lines: readonly LogEntry[], isLive: boolean }): VNode {
  const frame = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    if (isAtEnd.current) frame.current?.scrollTo(0, frame.current.scrollHeight)
  }, [lines])
  function note (): void {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = frame.current ?? {}
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < nearEnd
  }
  return (
    <section class='card'>
      <h2>Log {isLive && <span class='live'>live</span>}</h2>
      {lines.length === 0 && <p class='soft'>{isLive ? 'Nothing yet: what the tool writes to stderr appears here.' : 'The tool wrote nothing to stderr.'}</p>}
      {lines.length > 0 && (
        <div ref={frame} class='log' role='log' aria-label='Log' tabIndex={0} onScroll={note}>
          {lines.map(({ id, ts, level, message }) => (
            <div key={id} class={`line ${level}`}><time dateTime={ts} title={ts}>{clock.format(Date.parse(ts))}</time> <span>{message}</span></div>
          ))}
        </div>
      )}
    </section>
  )
}
