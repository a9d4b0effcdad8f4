import { posix } from 'node:path'
import { withoutFences } from './markdown-table.ts'
import type { SourceFile } from './source-tree.ts'

/**
 * Finds links of Markdown documents that lead to no file, folder or heading of the repository, and file names in
 * backticks that no file has, as `file: link`. `tree` are all files of the repository.
 */
export function findBrokenLinks (tree: SourceFile[], isDocument: (path: string) => boolean): string[] {
  const texts = new Map(tree.map(({ path, text }) => [path, text]))
  const places = new Set(tree.flatMap(({ path }) => path.split('/').map((_, depth, parts) => parts.slice(0, depth + 1).join('/'))))
  const names = new Set(tree.map(({ path }) => posix.basename(path)))
  return tree.filter(({ path }) => isDocument(path)).flatMap(({ path, text }) => {
    const prose = withoutFences(text).join('\n')
    const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter(link => !/^[a-z]+:/.test(link))
    const named = [...prose.matchAll(/`([\w-]+\.ts)`/g)].map(([, name = '']) => name)
    return [
      ...links.filter(link => !leadsSomewhere(link, path, texts, places)),
      ...named.filter(name => !names.has(name))
    ].map(link => `${path}: ${link}`)
  })
}

/** Finds decision records that a program names and that aren't there, as `file: record`. */
export function findMissingRecords (tree: SourceFile[]): string[] {
  const paths = new Set(tree.map(({ path }) => path))
  return tree.filter(({ path }) => !path.endsWith('.md') && !path.startsWith('test/repo/')).flatMap(({ path, text }) => (
    [...text.matchAll(/docs\/decisions\/[\w-]+\.md/g)].map(([record]) => record).filter(record => !paths.has(record)).map(record => `${path}: ${record}`)
  ))
}

function leadsSomewhere (link: string, from: string, texts: ReadonlyMap<string, string>, places: ReadonlySet<string>): boolean {
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? from : posix.join(posix.dirname(from), file).replace(/\/$/, '')
  if (!places.has(target)) return false
  return anchor === undefined || anchorsOf(texts.get(target) ?? '').includes(anchor)
}

/** The anchors that GitHub gives to headings. */
function anchorsOf (markdown: string): string[] {
  return withoutFences(markdown).filter(line => /^#+ /.test(line))
    .map(line => line.replace(/^#+ /, '').toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replaceAll(' ', '-'))
}
