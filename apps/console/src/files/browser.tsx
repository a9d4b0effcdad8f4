import type { FileList } from '@toolyard/contract'
import { visible } from '@toolyard/contract/terms'
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError, useLoad } from '../access/load.ts'
import { Confirm } from '../parts/dialog.tsx'
import { Empty, Problem } from '../parts/notice.tsx'
import { hrefOf, type Route } from '../parts/route.ts'
import { Time } from '../parts/time.tsx'
import { bytes } from '../parts/times.ts'
import { fileRoute, type Place } from './places.ts'
import { Preview } from './preview.tsx'
import { Uploads } from './uploads.tsx'

type Entry = FileList['entries'][number]

const everyMs = 4_000

/** A directory of a workspace: what is in it, a place to drop files, and one file as it is. */
export function FileBrowser ({ place, route, canChange }: { place: Place, route: Route, canChange: boolean }): VNode {
  const { api } = useAccess()
  const directory = route.query.get('dir') ?? ''
  const shown = route.query.get('file')
  const cursor = route.query.get('after') ?? undefined
  const path = `${fileRoute(place, directory)}?list=true${cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`}`
  const { data, error, reload } = useLoad(path, async signal => await api.ask<FileList>(path, { signal }), everyMs)
  const [removed, setRemoved] = useState<Entry>()
  const [problem, setProblem] = useState<Error>()
  async function remove ({ path: name, type }: Entry): Promise<void> {
    await api.open(`${fileRoute(place, name)}${type === 'directory' ? '?recursive=true' : ''}`, { method: 'DELETE' })
      .then(() => { setProblem(undefined); reload() }, (caught: unknown) => { setProblem(asError(caught)) })
  }
  const at = (query: Record<string, string | undefined>): string => hrefOf(place.page, query)
  return (
    <Uploads place={place} directory={directory} canChange={canChange} onUploaded={reload}>
      <Trail directory={directory} at={at} />
      <Problem error={problem ?? error} />
      <div class={shown === null ? 'files' : 'files with-preview'}>
        {data?.entries.length === 0
          ? <Empty title={directory === '' ? 'No files yet.' : 'This directory is empty.'}>{canChange && <p>Drop files here, or choose some with the button above.</p>}</Empty>
          : (
            <Entries
              entries={data?.entries} shown={shown} at={query => at({ dir: directory, ...query })}
              onRemove={canChange ? setRemoved : undefined}
            />
            )}
        {shown !== null && <Preview key={shown} place={place} path={shown} close={at({ dir: directory })} />}
      </div>
      {data?.next_cursor != null && (
        <nav class='pages' aria-label='Parts of the list'><a class='button' href={at({ dir: directory, after: data.next_cursor })}>More</a></nav>
      )}
      {removed !== undefined && (
        <Confirm title={`Remove “${visible(removed.name)}”?`} action='Remove' onConfirm={() => { void remove(removed) }} onClose={() => { setRemoved(undefined) }}>
          <p>{removed.type === 'directory' ? 'With all that is in it. ' : ''}This can't be undone.</p>
        </Confirm>
      )}
    </Uploads>
  )
}

function Trail ({ directory, at }: { directory: string, at: (query: { dir?: string }) => string }): VNode {
  const names = directory === '' ? [] : directory.split('/')
  return (
    <nav class='trail' aria-label='Directory'>
      <a href={at({})} aria-current={names.length === 0 ? 'page' : undefined}>files</a>
      {names.map((name, index) => (
        <span key={index}> / <a href={at({ dir: names.slice(0, index + 1).join('/') })} aria-current={index === names.length - 1 ? 'page' : undefined}>{visible(name)}</a></span>
      ))}
    </nav>
  )
}

interface EntriesProps {
  entries: readonly Entry[] | undefined
  shown: string | null
  at: (query: { dir?: string, file?: string }) => string
  onRemove: ((entry: Entry) => void) | undefined
}

function Entries ({ entries, shown, at, onRemove }: EntriesProps): VNode {
  return (
    <div class='table-frame' aria-busy={entries === undefined}>
      <table class='dense file-table'>
        <thead><tr><th>Name</th><th class='number c-size'>Size</th><th class='wide c-changed'>Changed</th>{onRemove !== undefined && <th class='c-act'><span class='unseen'>Action</span></th>}</tr></thead>
        <tbody>
          {entries?.map(entry => {
            const { path, type, size, modified_at: modified } = entry
            const name = visible(entry.name)
            return (
              <tr key={path} class={path === shown ? 'chosen' : ''}>
                <td title={name}>
                  {type === 'directory'
                    ? <a class='row-link' href={at({ dir: path })}>{name}/</a>
                    : type === 'file' ? <a class='row-link' href={at({ file: path })} aria-current={path === shown ? 'true' : undefined}>{name}</a> : <span>{name} <span class='soft small'>{type}</span></span>}
                </td>
                <td class='number'>{type === 'file' ? bytes(size) : '–'}</td>
                <td class='wide c-changed'><Time at={modified} /></td>
                {onRemove !== undefined && <td class='c-act'><button type='button' class='quiet' aria-label={`Remove ${name}`} onClick={() => { onRemove(entry) }}>Remove</button></td>}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
