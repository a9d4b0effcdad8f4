import type { Middle, RowResult } from './result.ts'

/** A table in Markdown, which is as good to read in a terminal as on a page. */
export function tableOf (results: readonly RowResult[]): string {
  return align([
    ['row', 'unit', 'yardstick', 'Toolyard', 'ratio', 'half of the rounds', 'target', 'others', 'verdict'],
    ...results.map(result => [
      `\`${result.name}\``,
      result.unit,
      shown(result.yardstickMiddle?.median),
      shown(result.subjectMiddle?.median),
      result.ratio?.median.toFixed(2) ?? '',
      spreadOf(result),
      targetOf(result),
      result.others?.toFixed(2) ?? '',
      result.reason === undefined ? result.verdict : `${result.verdict}: ${inOneLine(result.reason)}`
    ])
  ])
}

/** Lines of a table in Markdown; the first one is its head. */
export function align (lines: readonly string[][]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map(line => line[column]?.length ?? 0)))
  const drawn = lines.map(line => `| ${widths.map((width, column) => (line[column] ?? '').padEnd(width)).join(' | ')} |`)
  return [drawn[0], `|${widths.map(width => '-'.repeat(width + 2)).join('|')}|`, ...drawn.slice(1)].join('\n')
}

/** Three figures, as far as there are that many behind the point. */
export function shown (number: number | undefined): string {
  if (number === undefined) return ''
  return number.toFixed(number >= 100 ? 0 : number >= 10 ? 1 : 2)
}

function spreadOf ({ ratio, subjectMiddle }: RowResult): string {
  const between = ({ low, high }: Middle, text: (number: number) => string): string => `${text(low)} to ${text(high)}`
  if (ratio !== undefined) return between(ratio, number => number.toFixed(2))
  return subjectMiddle === undefined ? '' : between(subjectMiddle, shown)
}

function targetOf ({ target, unit }: RowResult): string {
  if (target === undefined) return ''
  return `${target.bound} ${target.number}${target.of === 'value' ? ` ${unit}` : ''}`
}

function inOneLine (text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('|', '/').slice(0, 200)
}
