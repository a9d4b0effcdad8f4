import type { StatisticsEntry } from '@toolyard/contract'
import type { VNode } from 'preact'
import { Name } from '../parts/long-text.tsx'
import { Empty } from '../parts/notice.tsx'
import { hrefOf } from '../parts/route.ts'
import { duration } from '../parts/times.ts'

const shown = 8

/** The tools or keys that had the most calls. */
export function UsageTable ({ what, entries }: { what: 'tool' | 'key', entries: readonly StatisticsEntry[] | undefined }): VNode {
  if (entries?.length === 0) return <Empty title='No call ended in this time.'>{what === 'tool' && <p><a href={hrefOf(['tools'])}>Choose a tool</a> and call it.</p>}</Empty>
  return (
    <div class='table-frame' aria-busy={entries === undefined}>
      <table class='dense figures-table'>
        <thead><tr><th>{what === 'tool' ? 'Tool' : 'Key'}</th><th class='number'>Calls</th><th class='number'>Errors</th><th class='number wide'>Waited</th><th class='number'>Ran, 95 %</th></tr></thead>
        <tbody>
          {entries?.slice(0, shown).map(({ name, calls, errors, waiting_ms: waiting, running_ms: running }) => (
            <tr key={name}>
              <td class='wraps'>{name === null ? <span class='soft'>the rest</span> : <a href={hrefOf(['jobs'], { [what]: name })}><Name text={name} /></a>}</td>
              <td class='number'>{calls.toLocaleString('en')}</td>
              <td class='number'>{errors === 0 || name === null ? errors : <a class='problem' href={hrefOf(['jobs'], { [what]: name, status: 'failed' })}>{errors.toLocaleString('en')}</a>}</td>
              <td class='number wide'>{waiting.p95 === null ? '–' : duration(waiting.p95)}</td>
              <td class='number'>{running.p95 === null ? '–' : duration(running.p95)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
