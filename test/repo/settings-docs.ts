import { isAbsolute, relative } from 'node:path'
import { plain, readTables } from './markdown-table.ts'

/**
 * Compares the settings table of the README with the variables in the code. Its columns are `variable`, `default` and
 * `what`, a variable a row. A default is written as in the environment, a path from the working directory, and `unset`,
 * `empty` or `off` where there is none; more may follow after a colon, as in `unset: an embedded Redis`.
 * Returns what differs, a line each.
 */
export function compareSettingsDocs (markdown: string, variables: Record<string, { fallback: unknown }>): string[] {
  const table = readTables(markdown).find(({ columns }) => ['variable', 'default', 'what'].every((column, index) => columns[index] === column))
  if (table === undefined) return ['there is no table with the columns variable, default, what']
  const documented = table.rows.map(row => plain(row['variable'] ?? ''))
  return [
    ...Object.keys(variables).filter(name => !documented.includes(name)).map(name => `${name} is not documented`),
    ...documented.filter((name, index) => documented.indexOf(name) < index).map(name => `${name} is documented twice`),
    ...table.rows.flatMap((row, index) => compareRow(row, documented[index] ?? '', variables))
  ]
}

function compareRow (row: Record<string, string>, name: string, variables: Record<string, { fallback: unknown }>): string[] {
  const variable = Object.hasOwn(variables, name) ? variables[name] : undefined
  if (variable === undefined) return [`${name} is no setting`]
  const [written] = plain(row['default'] ?? '').split(/:(?!\/\/)/)
  const shown = showDefault(variable.fallback)
  return [
    ...(written?.trim().replace(/^\.\//, '') === shown ? [] : [`${name} has the default '${written}', in the code it is '${shown}'`]),
    ...(plain(row['what'] ?? '') === '' ? [`${name} doesn't say what it is`] : [])
  ]
}

function showDefault (fallback: unknown): string {
  if (fallback === undefined) return 'unset'
  if (typeof fallback === 'boolean') return fallback ? 'on' : 'off'
  if (Array.isArray(fallback)) return fallback.length === 0 ? 'empty' : fallback.join(',')
  if (typeof fallback !== 'string') return JSON.stringify(fallback)
  if (fallback === '') return 'empty'
  return isAbsolute(fallback) ? relative('.', fallback) : fallback
}
