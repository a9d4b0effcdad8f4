import type { JobStep } from '@toolyard/contract'
import type { VNode } from 'preact'
import { hrefOf } from '../parts/route.ts'
import { signs } from '../parts/status.tsx'
import { duration } from '../parts/times.ts'
import { placeSteps, type Placed } from './layout.ts'

const node = { width: 184, height: 50 }
const gap = { x: 56, y: 18 }
const margin = 6
const longest = { name: 17, tool: 22 }

/** The steps of a workflow and what each waits for; a step leads to its job. */
export function Graph ({ steps }: { steps: readonly JobStep[] }): VNode {
  const { placed, columns, rows } = placeSteps(steps)
  const byName = new Map(placed.map(each => [each.step.name, each]))
  const width = columns * (node.width + gap.x) - gap.x + 2 * margin
  const height = rows * (node.height + gap.y) - gap.y + 2 * margin
  return (
    <div class='graph card' tabIndex={0} role='group' aria-label='The steps as a graph'>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        {placed.flatMap(to => to.step.needs.map(need => {
          const from = byName.get(need)
          return from === undefined ? null : <path key={`${need} ${to.step.name}`} class={`edge ${from.step.status}`} d={edge(from, to)} />
        }))}
        {placed.map(each => <Step key={each.step.name} placed={each} />)}
      </svg>
    </div>
  )
}

function Step ({ placed }: { placed: Placed }): VNode {
  const { name, tool, status, needs, job_id: id, ran_ms: ran } = placed.step
  const { x, y } = cornerOf(placed)
  const label = `${name}: ${status}, runs ${tool}${needs.length === 0 ? '' : `, after ${needs.join(', ')}`}`
  const box = (
    <g class={`node ${status}`} transform={`translate(${x} ${y})`}>
      <rect width={node.width} height={node.height} rx='7' />
      <text x='12' y='21' class='node-sign' aria-hidden='true'>{signs[status]}</text>
      <svg width={node.width - 6} height={node.height}>
        <text x='30' y='21' class='node-name'>{short(name, longest.name)}</text>
        <text x='30' y='38' class='node-tool'>{short(tool, ran === null ? longest.tool : longest.tool - 7)}</text>
      </svg>
      {ran !== null && <text x={node.width - 10} y='38' class='node-time'>{duration(ran)}</text>}
    </g>
  )
  return id === null ? <g><title>{label}</title>{box}</g> : <a href={hrefOf(['jobs', id])}><title>{label}</title>{box}</a>
}

function cornerOf ({ column, row }: Placed): { x: number, y: number } {
  return { x: margin + column * (node.width + gap.x), y: margin + row * (node.height + gap.y) }
}

function edge (from: Placed, to: Placed): string {
  const start = cornerOf(from)
  const end = cornerOf(to)
  const [x1, y1, x2, y2] = [start.x + node.width, start.y + node.height / 2, end.x, end.y + node.height / 2]
  const bend = Math.max(24, (x2 - x1) / 2)
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`
}

function short (text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}
