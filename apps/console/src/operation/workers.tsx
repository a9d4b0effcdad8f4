import type { WorkerList } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useAccess } from '../access/context.ts'
import { useLoad } from '../access/load.ts'
import { Problem } from '../parts/notice.tsx'
import { WorkerTable } from './worker-table.tsx'

/** How often the list is read again, in milliseconds. */
const everyMs = 2_000

/** The workers that are alive. */
export function WorkersPage (): VNode {
  const { api } = useAccess()
  const { data, error } = useLoad('workers', async signal => await api.ask<WorkerList>('/v1/workers', { signal }), everyMs)
  return (
    <main>
      <header class='page-head'><h1>Workers</h1><p class='soft small' aria-live='polite'>{data === undefined ? '' : `${data.count} alive`}</p></header>
      <Problem error={error} />
      <WorkerTable workers={data?.workers} />
    </main>
  )
}
