import type { ToolFinding, ToolOverview, ToolSummary } from '@toolyard/contract'
import type { VNode } from 'preact'
import { useRef } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { useLoad } from '../access/load.ts'
import { useKeys } from '../parts/keys.ts'
import { programFault } from '../parts/program-fault.ts'
import { Name } from '../parts/long-text.tsx'
import { Empty, Problem } from '../parts/notice.tsx'
import { hrefOf, type Route } from '../parts/route.ts'

/** How often the list is read again, in milliseconds: manifests are followed as they are saved. */
const everyMs = 5_000
/** Letters of a path that a column has room for. */
const mostPath = 17

/** All tools, also those that are switched off or can't run, and what is wrong with the manifests. */
export function ToolsPage ({ route }: { route: Route }): VNode {
  const { api } = useAccess()
  const { data, error } = useLoad('tools', async signal => await api.ask<ToolOverview>('/v1/registry', { signal }), everyMs)
  const search = useRef<HTMLInputElement>(null)
  useKeys({ '/': () => { search.current?.focus() } })
  const words = (route.query.get('q') ?? '').toLowerCase().split(/\s+/).filter(word => word !== '')
  const tools = data?.tools.filter(tool => words.every(word => `${tool.name} ${tool.namespace ?? ''} ${tool.description} ${tool.audit ?? ''} ${tool.file ?? ''}`.toLowerCase().includes(word)))
  return (
    <main>
      <header class='page-head'><h1>Tools</h1><p class='soft small' aria-live='polite'>{tools === undefined ? '' : `${tools.length} of ${data?.count ?? 0}`}</p></header>
      <form class='filters' role='search' onSubmit={event => { event.preventDefault() }}>
        <input
          ref={search} type='search' class='search' aria-label='Search tools' placeholder='Name, namespace, description, file or audit status' value={route.query.get('q') ?? ''}
          onInput={event => { history.replaceState(null, '', hrefOf(['tools'], { q: event.currentTarget.value })); window.dispatchEvent(new HashChangeEvent('hashchange')) }}
        />
      </form>
      <Problem error={error} />
      {data !== undefined && <Findings findings={data.findings} />}
      {tools?.length === 0 ? <NoTools isFiltered={words.length > 0} /> : <ToolTable tools={tools} findings={data?.findings ?? []} />}
    </main>
  )
}

function ToolTable ({ tools, findings }: { tools: readonly ToolSummary[] | undefined, findings: readonly ToolFinding[] }): VNode {
  return (
    <div class='table-frame' aria-busy={tools === undefined}>
      <table class='dense tools'>
        <thead><tr><th class='c-name'>Tool</th><th class='wide'>Description</th><th class='c-from wide'>From</th><th class='c-may wide'>Permissions</th><th class='c-state'>State</th></tr></thead>
        <tbody>
          {tools?.toSorted((a, b) => Number(a.format === 'builtin') - Number(b.format === 'builtin')).map(tool => (
            <tr key={tool.name}>
              <td class='wraps'><a class='row-link' href={hrefOf(['tools', tool.name])}><Name text={tool.name} /></a>{tool.namespace === undefined ? null : <span class='soft small'> {tool.namespace}</span>}{tool.audit === undefined ? null : <span class='soft small'> · {tool.audit}</span>}</td>
              <td class='wide soft' title={tool.description}>{tool.description}</td>
              <td class='wide soft' title={tool.file ?? undefined}>{tool.format === 'builtin' ? 'built in' : tool.file === null ? tool.format : ending(tool.file)}</td>
              <td class='wide soft' title={tool.permissions.join(', ')}>{tool.permissions.join(', ')}</td>
              <td><ToolState tool={tool} fault={programFault(tool.name, findings)} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** The end of a file's path, which tells more than its beginning. */
function ending (file: string): string {
  const path = file.split('/').slice(-2).join('/')
  return path.length <= mostPath ? path : `…${path.slice(1 - mostPath)}`
}

interface ToolStateProps {
  tool: Pick<ToolSummary, 'enabled' | 'unavailable'>
  /** Of its program on the API's machine; a worker may be on another one. */
  fault: ToolFinding | undefined
}

export function ToolState ({ tool, fault }: ToolStateProps): VNode {
  if (!tool.enabled) return <span class='status'><span aria-hidden='true'>–</span>off</span>
  if (tool.unavailable !== null) return <span class='status failed' title={tool.unavailable}><span aria-hidden='true'>✕</span>can't run</span>
  if (fault !== undefined) return <span class='status failed' title={fault.message}><span aria-hidden='true'>✕</span>may not run</span>
  return <span class='status succeeded'><span aria-hidden='true'>✓</span>on</span>
}

export function Findings ({ findings, isOpen = false }: { findings: readonly ToolFinding[], isOpen?: boolean }): VNode | null {
  if (findings.length === 0) return null
  const errors = findings.filter(({ severity }) => severity === 'error').length
  return (
    <details class='card findings' open={errors > 0 || isOpen}>
      <summary>{errors > 0 ? `${errors} ${errors === 1 ? 'fault' : 'faults'} in the manifests` : `${findings.length} ${findings.length === 1 ? 'remark' : 'remarks'} on the manifests`}</summary>
      <ul>
        {findings.map((finding, index) => (
          <li key={index} class={finding.severity}>
            <code>{finding.file}{finding.line === null ? '' : `:${finding.line}`}</code>
            <p><strong>{finding.severity}</strong> {finding.message} <span class='soft'>({finding.rule})</span></p>
            {finding.fix !== null && <p class='soft'>{finding.fix}</p>}
          </li>
        ))}
      </ul>
    </details>
  )
}

function NoTools ({ isFiltered }: { isFiltered: boolean }): VNode {
  if (isFiltered) return <Empty title='No tool fits this search.'><a href={hrefOf(['tools'])}>Show all tools</a></Empty>
  return <Empty title='No tools yet.'><p>Name a manifest in <code>TOOL_MANIFESTS</code>; <code>toolyard init</code> writes one to start from.</p></Empty>
}
