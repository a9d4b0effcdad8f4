import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import UPlot from 'uplot'

interface ChartLine {
  label: string
  tone: 'accent' | 'bad' | 'warn' | 'good' | 'soft'
}

interface ChartProps {
  title: string
  lines: readonly ChartLine[]
  /** Seconds since 1970, and what each line has then. */
  columns: [number[], ...Array<Array<number | null>>]
  format: (value: number) => string
  /** Said where no line has a value. */
  empty: string
  /** The least that the upper end of the scale is. */
  least: number
}

const height = 132
/** Steps of a scale: whole numbers. */
const incrs = [1, 2, 5].flatMap(step => Array.from({ length: 9 }, (_, power) => step * 10 ** power)).sort((a, b) => a - b)
const alpha = '22'
/** A chart shows no less time than this. */
const shortestSec = 300

/** Lines over time. What they are now, or where somebody points, stands beside their names. */
export function Chart ({ title, lines, columns, format, empty, least }: ChartProps): VNode {
  const figure = useRef<HTMLElement>(null)
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot | undefined>(undefined)
  const [pointed, setPointed] = useState<number | null>(null)
  const theme = useThemeTurns()
  const latest = useRef({ columns, format })
  latest.current = { columns, format }

  useEffect(() => {
    const [parent, frame] = [place.current, figure.current]
    if (parent === null || frame === null) return
    const colours = [...frame.querySelectorAll('.line-mark')].map(mark => hexOf(getComputedStyle(mark).color))
    const { color: soft, borderTopColor: line } = getComputedStyle(parent)
    const axis = { stroke: soft, font: '11px system-ui, sans-serif', ticks: { show: false }, grid: { stroke: line, width: 1 } }
    const drawn = new UPlot({
      width: parent.clientWidth,
      height,
      // The last time stands in the middle below the end of the scale.
      padding: [6, 18, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 6 }, drag: { x: false, y: false } },
      scales: {
        x: { range: (_plot, low, high) => [Math.min(low, high - shortestSec), high] },
        // Without a value there are no ends.
        y: { range: (_plot, _low, high) => [0, Math.max(least, Number.isFinite(high) ? high * 1.1 : 0)] }
      },
      axes: [
        { ...axis, grid: { show: false }, space: 64, size: 22, values: (_plot, times) => times.map(clock) },
        { ...axis, size: 52, space: 32, incrs, values: (_plot, values) => values.map(value => latest.current.format(value)) }
      ],
      series: [{}, ...colours.map((stroke, index) => ({
        stroke,
        width: 1.5,
        spanGaps: false,
        points: { size: 4, show: false, filter: alone },
        ...(index === 0 ? { fill: stroke + alpha } : {})
      }))],
      hooks: { setCursor: [({ cursor: { idx } }) => { setPointed(idx ?? null) }] }
    }, latest.current.columns, parent)
    plot.current = drawn
    const watch = new ResizeObserver(() => { drawn.setSize({ width: parent.clientWidth, height }) })
    watch.observe(parent)
    return () => { watch.disconnect(); drawn.destroy() }
  }, [theme, lines.length])
  useEffect(() => { plot.current?.setData(columns) }, [columns])

  const [times, ...values] = columns
  const at = pointed ?? times.length - 1
  const isEmpty = values.every(line => line.every(value => value === null || value === 0))
  const told = lines.map(({ label }, index) => `${label} ${shown(values[index]?.[times.length - 1], format)}`).join(', ')
  return (
    <figure ref={figure} class='card chart'>
      <figcaption>
        <h2>{title}</h2>
        <p class='small soft pointed'>{pointed === null || times[at] === undefined ? '' : clock(times[at])}</p>
        <ul class='legend'>
          {lines.map(({ label, tone }, index) => (
            <li key={label}><span class={`line-mark ${tone}`} aria-hidden='true' />{label} <strong>{shown(values[index]?.[at], format)}</strong></li>
          ))}
        </ul>
      </figcaption>
      <div class='plot'>
        <div ref={place} role='img' aria-label={`${title}: ${told}`} />
        {isEmpty && <p class='soft small nothing'>{empty}</p>}
      </div>
    </figure>
  )
}

/** The values that have none beside them, of which a line shows nothing. */
function alone (plot: UPlot, series: number): number[] | null {
  const values = plot.data[series] ?? []
  const isThere = (at: number): boolean => values[at] !== null && values[at] !== undefined
  const found = [...values.keys()].filter(at => isThere(at) && !isThere(at - 1) && !isThere(at + 1))
  return found.length === 0 ? null : found
}

function shown (value: number | null | undefined, format: ChartProps['format']): string {
  return value === null || value === undefined ? '–' : format(value)
}

function clock (seconds: number): string {
  return new Date(seconds * 1_000).toLocaleTimeString(undefined, { hour: '2-digit', minute: '2-digit', hour12: false })
}

/** A colour as a canvas takes it with an alpha behind. */
function hexOf (colour: string): string {
  const parts = colour.match(/\d+/g)?.slice(0, 3).map(Number) ?? [128, 128, 128]
  return `#${parts.map(part => part.toString(16).padStart(2, '0')).join('')}`
}

/** How often the theme has changed: a canvas doesn't follow a style sheet. */
function useThemeTurns (): number {
  const [turns, setTurns] = useState(0)
  useEffect(() => {
    const turn = (): void => { setTurns(count => count + 1) }
    const media = matchMedia('(prefers-color-scheme: dark)')
    const chosen = new MutationObserver(turn)
    media.addEventListener('change', turn)
    chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => { media.removeEventListener('change', turn); chosen.disconnect() }
  }, [])
  return turns
}
