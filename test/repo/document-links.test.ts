import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { findBrokenLinks, findMissingRecords } from './document-links.ts'
import { plantTree, readTree, repoRoot } from './source-tree.ts'

const tree = {
  'docs/a.md': '# A part, and more\n\n[b](../src/b.ts) [folder](../src/) [self](#a-part-and-more) [web](https://example.org/x) `b.ts`\n',
  'src/b.ts': "// see docs/decisions/0001-one.md\n'[no](link.md)'",
  'docs/decisions/0001-one.md': '# 0001. One\n'
}
const isDocument = (path: string): boolean => path.startsWith('docs/')

t.test('links with a target, and names of existing files, are accepted', async t => {
  t.strictSame(findBrokenLinks(plantTree(tree), isDocument), [])
  t.strictSame(findMissingRecords(plantTree(tree)), [])
})

for (const [text, link] of [
  ['[gone](gone.md)', 'gone.md'],
  ['[gone](../sr)', '../sr'],
  ['[gone](#b)', '#b'],
  ['[gone](decisions/0001-one.md#one)', 'decisions/0001-one.md#one'],
  ['| `c.ts` |', 'c.ts']
] as const) {
  t.test(`found: ${text}`, async t => {
    t.strictSame(findBrokenLinks(plantTree({ ...tree, 'docs/c.md': text }), isDocument), [`docs/c.md: ${link}`])
  })
}

t.test('a comment that names a missing record is found', async t => {
  t.strictSame(findMissingRecords(plantTree({ 'src/c.ts': '// docs/decisions/0002-two.md' })), ['src/c.ts: docs/decisions/0002-two.md'])
})

t.test('links of the documents and of comments lead to files and headings of this repository', async t => {
  const files = await readTree(repoRoot, () => true)
  const documents = /^(?:[A-Z]+\.md|docs\/.*\.md|packages\/[a-z]+\/README\.md)$/
  t.ok(files.filter(({ path }) => documents.test(path)).length > 40, 'the documents were read')
  t.strictSame(findBrokenLinks(files, path => documents.test(path)), [])
  t.strictSame(findMissingRecords(files), [])
})

t.test('every page of docs is in one group of the site, and every page of the groups exists', async t => {
  const { sidebarOf } = await import(new URL('../../../docs/.vitepress/sidebar.js', import.meta.url).href) as {
    sidebarOf: (root: string) => Array<{ items: Array<{ link: string }> }>
  }
  // A group may lead to several places of one page.
  const listed = sidebarOf(repoRoot).flatMap(({ items }) => [...new Set(items.map(({ link }) => `${link.slice(1).split('#')[0]}.md`.replace(/^index\.md$/, 'README.md')))])
  const pages = (await readTree(repoRoot, path => /^docs\/.*\.md$/.test(path))).map(({ path }) => path)
  t.ok(pages.length > 90, 'they were found')
  t.strictSame(pages.filter(page => listed.filter(each => each === page).length !== 1), [], 'docs/.vitepress/sidebar.js has the groups')
  const there = new Set((await readTree(repoRoot, path => path.endsWith('.md'))).map(({ path }) => path))
  t.strictSame(listed.filter(page => !there.has(page)), [])
  const places = sidebarOf(repoRoot).flatMap(({ items }) => items).filter(({ link }) => link.includes('#')).map(({ link }) => `[place](${link.slice(1).replace('#', '.md#')})`)
  const files = await readTree(repoRoot, path => path.endsWith('.md'))
  t.strictSame(findBrokenLinks([...files, { path: 'sidebar.md', text: places.join('\n') }], path => path === 'sidebar.md'), [])
})

t.test('the README is one page', async t => {
  const words = (await readFile(join(repoRoot, 'README.md'), 'utf8')).split(/\s+/).filter(word => word !== '').length
  t.ok(words <= 1_200, `${words} words, at most 1,200: what more there is to say belongs into docs`)
})
