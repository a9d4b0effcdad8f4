import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { repoRoot } from '../repo/source-tree.ts'
import type { KubernetesObject } from './kubernetes.ts'

export const chartDir = join(repoRoot, 'deploy/helm/toolyard')

/** Values as the chart has them, or as a user gives them. */
export interface Values { [name: string]: unknown }

export function readChartFile (name: string): Values {
  return parse(readFileSync(join(chartDir, name), 'utf8')) as Values
}

/** The texts of the templates, by their names. */
export function readTemplates (): Map<string, string> {
  return new Map(readdirSync(join(chartDir, 'templates')).map(name => [name, readFileSync(join(chartDir, 'templates', name), 'utf8')]))
}

/** The paths of all values that are no object with names of its own, such as `api.image.tag`. */
export function leavesOf (values: Values, before = ''): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
    return isObject ? leavesOf(value as Values, `${before}${name}.`) : [`${before}${name}`]
  })
}

/** Braces of a template, and blocks without their `end`; a line each. */
export function imbalances (template: string): string[] {
  const actions = template.match(/\{\{-?\s*(?:\/\*[^]*?\*\/|[^]*?)\s*-?\}\}/g) ?? []
  const rest = actions.reduce((text, action) => text.replace(action, ''), template)
  const words = actions.map(action => /^\{\{-?\s*(\w+)/.exec(action)?.[1] ?? '')
  const opened = words.filter(word => ['if', 'with', 'range', 'define', 'block'].includes(word)).length
  const closed = words.filter(word => word === 'end').length
  return [
    ...actions.filter(action => action.slice(2, -2).includes('{{')).map(action => `${action} is not closed`),
    ...actions.filter(action => !action.includes('/*') && count(action, '(') !== count(action, ')')).map(action => `${action} has other parentheses`),
    ...rest.includes('{{') || rest.includes('}}') ? ['braces are left over'] : [],
    ...opened === closed ? [] : [`${opened} blocks and ${closed} ends`]
  ]
}

function count (text: string, part: string): number {
  return text.split(part).length - 1
}

export const helm = (process.env['PATH'] ?? '').split(':').map(place => join(place, 'helm')).find(existsSync)

/** The output of `helm template` for the chart with further values. */
export function renderChart (dir: string, values: Values, release = 'toolyard'): KubernetesObject[] {
  const file = join(dir, 'values.json')
  writeFileSync(file, JSON.stringify(values))
  const text = execFileSync(helm ?? '', ['template', release, chartDir, '-n', 'toolyard', '--kube-version', '1.33.0', '-f', file], { encoding: 'utf8' })
  const documents = parseAllDocuments(text)
  if (!Array.isArray(documents)) return []
  return documents.map(document => document.toJS() as KubernetesObject | null).filter(object => object !== null)
}

/** An object without what only a release has: labels and annotations of Helm, the version of an image, what is so by default. */
export function plainObject (object: KubernetesObject, version: string): KubernetesObject {
  const text = JSON.stringify(object, (name, value: unknown) => {
    if (name === 'namespace' || name === 'imagePullPolicy') return undefined
    if (name === 'image' && typeof value === 'string') return value.replace(`:${version}`, '')
    if (!['labels', 'matchLabels', 'annotations', 'selector'].includes(name) || typeof value !== 'object' || value === null) return value
    const own = Object.entries(value).filter(([key]) => !/^(?:app\.kubernetes\.io\/(?:instance|version|managed-by)|helm\.sh\/.*)$/.test(key))
    return own.length === 0 ? undefined : Object.fromEntries(own)
  })
  return JSON.parse(text) as KubernetesObject
}
