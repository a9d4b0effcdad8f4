import { readTables } from './markdown-table.ts'
import type { SourceFile } from './source-tree.ts'

const folder = 'docs/decisions/'
const headings = ['Context', 'Decision', 'Consequences', 'Alternatives tried']
const statusLine = /\nWhere: .+\n\nStatus: (?:active|replaced by \[\d{4}\]\(\d{4}-[a-z0-9-]+\.md\))\n/
/** Whoever owns the project reads them all. */
const most = 60

/**
 * Finds what is wrong with the decision records, as sentences: too many of them, a number that is used twice or out of
 * order, a heading or status that is missing, a record that the table of README.md doesn't name. Numbers may have gaps.
 */
export function findDecisionFaults (tree: SourceFile[]): string[] {
  const records = tree.filter(({ path }) => path.startsWith(folder) && path !== `${folder}README.md`)
    .map(({ path, text }) => ({ name: path.slice(folder.length), text }))
  const rows = readTables(tree.find(({ path }) => path === `${folder}README.md`)?.text ?? '')[0]?.rows ?? []
  return [
    ...(records.length > most ? [`there are ${records.length} records: merge those about one subject until there are at most ${most}`] : []),
    ...findNumberFaults(records.map(({ name }) => name), rows.map(row => row['number'] ?? '')),
    ...records.flatMap(({ name, text }) => [
      ...findTextFaults(name, text),
      ...(rows.some(row => row['number'] === linkTo(name) && row['decision'] === titleOf(text)) ? [] : [`README.md has no row for ${name} with its title`])
    ])
  ]
}

function findNumberFaults (names: string[], links: string[]): string[] {
  const numbers = names.map(numberOf)
  return [
    ...names.filter(name => !/^\d{4}-[a-z0-9-]+\.md$/.test(name)).map(name => `${name} should have a name like 0001-title.md`),
    ...names.filter((name, index) => numbers.indexOf(numberOf(name)) < index).map(name => `${name} has a number that is used already`),
    ...links.filter((link, index) => index > 0 && link <= (links[index - 1] ?? '')).map(link => `README.md has the row ${link} out of order`)
  ]
}

function findTextFaults (name: string, text: string): string[] {
  return [
    ...(text.startsWith(`# ${numberOf(name)}. `) ? [] : [`${name} doesn't begin with '# ${numberOf(name)}. '`]),
    ...(statusLine.test(text) ? [] : [`${name} has no line 'Status: active' below 'Where:'`]),
    ...headings.filter(heading => !new RegExp(`\\n## ${heading}\\n+[^\\n#]`).test(text)).map(heading => `${name} says nothing under '${heading}'`)
  ]
}

function linkTo (name: string): string {
  return `[${numberOf(name)}](${name})`
}

function numberOf (name: string): string {
  return name.slice(0, 4)
}

function titleOf (text: string): string {
  return /^# \d{4}\. (.+)\n/.exec(text)?.[1] ?? ''
}
