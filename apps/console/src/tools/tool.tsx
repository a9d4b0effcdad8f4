import { pathSegment, type JobView } from '@toolyard/client'
import type { ToolView, Statistics } from '@toolyard/contract'
import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useAccess } from '../access/context.ts'
import { asError, useLoad } from '../access/load.ts'
import { JsonTree } from '../parts/json-tree.tsx'
import { useKeys } from '../parts/keys.ts'
import { Name } from '../parts/long-text.tsx'
import { Empty, Problem } from '../parts/notice.tsx'
import { hrefOf } from '../parts/route.ts'
import { CallForm } from './call-form.tsx'
import { Findings, ToolState } from './list.tsx'
import { programFault } from '../parts/program-fault.ts'
import { StatisticsCharts } from '../overview/statistics-charts.tsx'
import { duration } from '../parts/times.ts'

const everyMs = 15_000

/** For each permission, what the sandbox opens; docs/security.md has the table. */
const opened: Readonly<Record<string, string>> = {
  read_repo: 'sees the workspace, read only',
  write_files: 'changes files of the workspace',
  network: 'reaches the network of the machine, loopback too'
}

/** Each permission, and what it opens; hosts that are named are the permission of these alone. */
function reaches ({ permissions, hosts, runs }: ToolView): ReadonlyArray<readonly [permission: string, says: string]> {
  const others = permissions.filter(each => each !== 'network').map(each => [each, opened[each] ?? ''] as const)
  const named = hosts?.filter(host => host !== '*') ?? []
  if (named.length > 0) return [...others, ['network', `reaches ${named.join(', ')}, and no other host`]]
  if (!permissions.includes('network')) return others
  return [...others, ['network', runs === 'builtin' ? 'reaches hosts that settings allow' : hosts === null ? 'reaches the network' : opened['network'] ?? '']]
}

interface ToolPageProps {
  name: string
  /** The id of a job whose arguments the form begins with. */
  like: string | null
}

/** One tool: what it is, what it may do, and a form to call it. */
export function ToolPage ({ name, like }: ToolPageProps): VNode {
  const { api, person } = useAccess()
  const { data, error, reload } = useLoad(name, async signal => await api.ask<{ tool: ToolView }>(`/v1/registry/${pathSegment(name)}`, { signal }))
  const job = useLoad(like ?? '', async signal => {
    if (like !== null) return (await api.ask<{ job: JobView }>(`/v1/jobs/${pathSegment(like)}`, { signal })).job
    return undefined
  })
  const [problem, setProblem] = useState<Error>()
  useKeys({ Escape: () => { location.hash = hrefOf(['tools']) } })
  async function turn (tool: ToolView): Promise<void> {
    await api.ask(`/v1/job-types/${pathSegment(tool.type)}`, { method: 'PATCH', body: { enabled: !tool.enabled } })
      .then(() => { setProblem(undefined); reload() }, (caught: unknown) => { setProblem(asError(caught)) })
  }
  const tool = data?.tool
  return (
    <main>
      <p class='crumb'><a href={hrefOf(['tools'])}>Tools</a></p>
      <header class='page-head'>
        <h1><Name text={name} /> {tool !== undefined && <ToolState tool={tool} fault={programFault(name, tool.findings)} />}</h1>
        {tool !== undefined && person.can_write && person.tenant === undefined && (
          <button type='button' onClick={() => { void turn(tool) }}>{tool.enabled ? 'Switch off' : 'Switch on'}</button>
        )}
      </header>
      {tool === undefined && error !== undefined && <Empty title={error.message} />}
      <Problem error={problem} />
      {job.error !== undefined && <Problem error={job.error} />}
      {tool !== undefined && <Body tool={tool} canCall={person.can_write} like={job.data} />}
    </main>
  )
}

function Body ({ tool, canCall, like }: { tool: ToolView, canCall: boolean, like: JobView | undefined }): VNode {
  return (
    <>
      <p class='about'>{tool.description}</p>
      {tool.unavailable !== null && <p class='problem banner' role='alert'>It can't run: {tool.unavailable}</p>}
      <Findings findings={tool.findings} isOpen={tool.findings.some(({ severity }) => severity === 'warning')} />
      <div class='columns'>
        <div class='column'>
          {canCall && <CallForm key={like?.id ?? tool.name} tool={tool} like={like} />}
          <Usage tool={tool.name} />
          <section class='card'><h2>Schema of its arguments</h2><div class='json'><JsonTree value={tool.parameters} /></div></section>
        </div>
        <div class='column side'><Facts tool={tool} /></div>
      </div>
    </>
  )
}

function Facts ({ tool }: { tool: ToolView }): VNode {
  const may = reaches(tool)
  const facts: ReadonlyArray<readonly [string, ComponentChildren]> = [
    ['Type', <Name key='type' text={tool.type} />],
    ['Format', `${tool.format}, runs as ${tool.runs}`],
    ...tool.audit === undefined ? [] : [['Added', `as ${tool.audit}`] as const],
    ['Timeout', `${tool.timeout_sec} s`],
    ['Attempts', tool.max_attempts],
    ['If a worker dies', tool.idempotent ? 'is run again' : 'fails'],
    ['At once', tool.serial ? 'one call' : 'any number'],
    ...Object.entries(tool.limits).map(([name, value]) => [name, value] as const)
  ]
  return (
    <>
      <section class='card'>
        <h2>What it may do</h2>
        {may.length === 0 && <p class='soft'>Compute: it sees neither the workspace nor the network.</p>}
        <ul class='permissions'>{may.map(([permission, says]) => <li key={permission}><code>{permission}</code> <span class='soft'>{says}</span></li>)}</ul>
      </section>
      <section class='card'>
        <h2>Details</h2>
        <dl class='facts'>{facts.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
        <p class='facts-link'><a href={hrefOf(['jobs'], { type: tool.type })}>Its jobs</a></p>
      </section>
      {tool.steps.length > 0 && (
        <section class='card'>
          <h2>Where it comes from</h2>
          <ol class='steps'>{tool.steps.map(({ file, did, because }, index) => <li key={index}><strong>{did}</strong> {because ?? ''} <code>{file}</code></li>)}</ol>
        </section>
      )}
    </>
  )
}

function Usage ({ tool }: { tool: string }): VNode {
  const { api } = useAccess()
  const search = String(new URLSearchParams({ minutes: '1440', tool }))
  const { data } = useLoad(search, async signal => await api.ask<Statistics>(`/v1/stats?${search}`, { signal }), everyMs)
  const entry = data?.tools.find(({ name }) => name === tool)
  return (
    <section class='card usage'>
      <h2>The last 24 hours</h2>
      {data !== undefined && entry === undefined && <p class='soft'>No call of it ended in this time.</p>}
      {entry !== undefined && (
        <p>
          {entry.calls.toLocaleString('en')} {entry.calls === 1 ? 'call' : 'calls'},{' '}
          <a href={hrefOf(['jobs'], { tool, status: 'failed' })}>{entry.errors.toLocaleString('en')} {entry.errors === 1 ? 'error' : 'errors'}</a>
          {entry.running_ms.p95 !== null && <>; 95 % ran for less than {duration(entry.running_ms.p95)}</>}
        </p>
      )}
      {entry !== undefined && <StatisticsCharts statistics={data} now={undefined} />}
    </section>
  )
}
