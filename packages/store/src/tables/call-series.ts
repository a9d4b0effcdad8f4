import { isTexts, readStored } from '../redis/stored.ts'

/** Shared by the calls of a series. */
type Dimension = typeof dimensions[number]
const dimensions = ['total', 'tool', 'queue', 'key'] as const

export interface CountedCall {
  tool: string
  queue: string
  keyName: string
  tenant: string | undefined
}

/** A series, of all jobs or of those of one tenant; the name is empty for a total, and for those that have no series of their own. */
export interface Series {
  tenant: string | undefined
  dimension: Dimension
  name: string
}

/** How a series is called in Redis. No tenant has a `|` in its name. */
export function seriesName ({ tenant = '', dimension, name }: Series): string {
  return `${tenant}|${dimension}|${name}`
}

/** The way back from `seriesName`. */
export function readSeries (text: string): Series {
  const [tenant = '', dimension = 'total'] = text.split('|', 2)
  return { tenant: tenant === '' ? undefined : tenant, dimension: dimensions.find(each => each === dimension) ?? 'total', name: text.slice(tenant.length + dimension.length + 2) }
}

/** The series that a call is counted in: those of all jobs, and those of its tenant. */
export function seriesOf ({ tool, queue, keyName, tenant }: CountedCall): Series[] {
  return (tenant === undefined ? [undefined] : [undefined, tenant]).flatMap(tenant => [
    { tenant, dimension: 'total', name: '' },
    { tenant, dimension: 'tool', name: tool },
    { tenant, dimension: 'queue', name: queue },
    { tenant, dimension: 'key', name: keyName }
  ] as const)
}

/** The name in Redis of a tool's usage by a key; both are empty for those that are counted together. */
export function usageName ({ tenant = '', keyName, tool }: Omit<CountedCall, 'queue'>): string {
  return JSON.stringify([tenant, keyName, tool])
}

/** The way back from `usageName`. */
export function readUsageName (text: string): Omit<CountedCall, 'queue'> {
  const [tenant = '', keyName = '', tool = ''] = readStored('the name of a usage', text, isTexts)
  return { tenant: tenant === '' ? undefined : tenant, keyName, tool }
}
