const kinds = new Set(['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'])
const release = /^\[(\d+\.\d+\.\d+)\] - \d{4}-\d{2}-\d{2}$/

/**
 * Finds where a changelog departs from the form of Keep a Changelog, or knows nothing of `version`: it must be a release
 * with a date, or there must be something under `[Unreleased]` (A43). Returns what is wrong, a line each.
 */
export function findChangelogFaults (text: string, version: string): string[] {
  const lines = text.split('\n')
  const titles = lines.filter(line => line.startsWith('## ')).map(line => line.slice(3).trim())
  const releases = titles.map(title => release.exec(title)?.[1])
  return [
    ...titles.filter((title, index) => title !== '[Unreleased]' && releases[index] === undefined).map(title => `'${title}' is no release`),
    ...lines.filter(line => line.startsWith('### ') && !kinds.has(line.slice(4).trim())).map(line => `'${line.slice(4).trim()}' is no kind of change`),
    ...(releases.includes(version) || hasUnreleased(lines) ? [] : [`nothing is said of ${version}`])
  ]
}

function hasUnreleased (lines: string[]): boolean {
  const start = lines.indexOf('## [Unreleased]')
  if (start < 0) return false
  const end = lines.findIndex((line, index) => index > start && line.startsWith('## '))
  return lines.slice(start, end < 0 ? undefined : end).some(line => line.startsWith('- '))
}
