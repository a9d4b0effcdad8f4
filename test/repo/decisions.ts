import { readTables } from './markdown-table.ts'
import type { SourceFile } from './source-tree.ts'

const folder = 'docs/decisions/'
const headings = ['Context', 'Decision', 'Consequences', 'Alternatives tried']

/**
 * Finds what is wrong with the decision records, as sentences: a number that is missing or used twice, a heading that is
 * missing or empty, a record that the table of README.md doesn't name.
 */
export function findDecisionFaults (tree: SourceFile[]): string[] {
  const records = tree.filter(({ path }) => path.startsWith(folder) && path !== `${folder}README.md`)
  const table = readTables(tree.find(({ path }) => path === `${folder}README.md`)?.text ?? '')[0]
  return records.map(({ path, text }) => ({ name: path.slice(folder.length), text })).flatMap(({ name, text }, index) => {
    const number = String(index + 1).padStart(4, '0')
    const title = /^# \d{4}\. (.+)\n/.exec(text)?.[1] ?? ''
    const row = table?.rows.find(row => row['number'] === `[${number}](${name})`)
    return [
      ...(/^\d{4}-[a-z0-9-]+\.md$/.test(name) && name.startsWith(number) ? [] : [`${name} should be ${number}-title.md`]),
      ...(text.startsWith(`# ${number}. `) ? [] : [`${name} doesn't begin with '# ${number}. '`]),
      ...(row?.['decision'] === title ? [] : [`README.md has no row for ${name} with its title`]),
      ...headings.filter(heading => !new RegExp(`\\n## ${heading}\\n+[^\\n#]`).test(text)).map(heading => `${name} says nothing under '${heading}'`)
    ]
  })
}
