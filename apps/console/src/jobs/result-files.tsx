import type { JobView } from '@toolyard/client'
import { visible } from '@toolyard/contract/terms'
import type { VNode } from 'preact'
import { hrefOf } from '../parts/route.ts'
import { bytes } from '../parts/times.ts'

/** The files of its session that a job made or changed; nothing where it did neither. */
export function ResultFiles ({ job: { session, files = [], more_files: hasMore } }: { job: JobView }): VNode | null {
  if (session === undefined || files.length === 0) return null
  return (
    <section class='card'>
      <h2>Files made or changed</h2>
      <ul class='result-files'>
        {files.map(({ path, size, type }) => (
          <li key={path}>
            <a href={hrefOf(['sessions', session], { dir: path.split('/').slice(0, -1).join('/'), file: path })}>{visible(path)}</a>
            <span class='soft small'>{bytes(size)}, {type.split(';')[0]}</span>
          </li>
        ))}
      </ul>
      {hasMore === true && <p class='soft small'>There are more: see <a href={hrefOf(['sessions', session])}>the session</a>.</p>}
    </section>
  )
}
