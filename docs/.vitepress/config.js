import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sidebarOf } from './sidebar.js'

/** The site of the documents: `npm run docs` builds it into docs/.vitepress/dist, of static files alone. */
const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const pages = /^(?:[A-Z]+\.md|docs\/(?!\.).*\.md)$/

export default {
  title: 'Toolyard',
  description: 'Runs the tool calls of LLM agents',
  lang: 'en',
  srcDir: '..',
  srcExclude: ['{apps,clients,deploy,examples,packages,packed,samples,scripts,specs,test,workspace}/**', 'CONTRIBUTING.md', '.*/**'],
  rewrites: { 'README.md': 'index.md' },
  cacheDir: '../node_modules/.cache/vitepress',
  // The footer of a page would tell of the time of the build.
  lastUpdated: false,
  // Without it, browsers ask for one that isn't there.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  themeConfig: {
    sidebar: sidebarOf(root),
    outline: [2, 3],
    // Decisions are for who changes Toolyard: what users look for comes first.
    search: { provider: 'local', options: { miniSearch: { searchOptions: { boostDocument: id => id.includes('/decisions/') ? 0.1 : 1 } } } }
  },
  markdown: {
    html: false,
    anchor: { slugify },
    /** @param {import('markdown-it').default} md */
    config: md => {
      md.core.ruler.after('normalize', 'comments', withoutComments)
      md.core.ruler.push('repository-links', readAsText)
    }
  }
}

/**
 * The anchor of a heading, as GitHub makes it: links of the documents work in both places.
 *
 * @param {string} heading
 */
function slugify (heading) {
  return heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replaceAll(' ', '-')
}

/**
 * Leaves out the comments that name the tests of a sentence: without HTML in pages, readers would see them.
 *
 * @param {{ src: string }} state
 */
function withoutComments (state) {
  state.src = state.src.replace(/[ \t]*<!-- (?:tests: .*|says why) -->$/gm, '')
}

/**
 * A link to a file of the repository that is no page of the site stays as text; one to README.md leads to the first page.
 *
 * @param {{ tokens: Array<{ children: any[] | null }>, env: { path: string } }} state
 */
function readAsText ({ tokens, env }) {
  for (const { children } of tokens) {
    let isText = false
    for (const token of children ?? []) {
      if (token.type === 'link_open') isText = changeLink(token, relative(root, env.path))
      else if (token.type !== 'link_close' || !isText) continue
      if (!isText) continue
      // A span in place of the link.
      token.tag = 'span'
      token.attrs = null
      if (token.type === 'link_close') isText = false
    }
  }
}

/**
 * Whether a link leads to no page; one that leads to README.md is changed.
 *
 * @param {{ attrGet: (name: string) => string, attrSet: (name: string, value: string) => void }} token
 * @param {string} page that has the link
 */
function changeLink (token, page) {
  const [path = '', anchor] = token.attrGet('href').split('#')
  if (path === '' || /^[a-z]+:/.test(path)) return false
  const target = posix.normalize(posix.join(posix.dirname(page), decodeURIComponent(path)))
  if (!pages.test(target) || target === 'CONTRIBUTING.md') return true
  if (target === 'README.md') token.attrSet('href', `/index.md${anchor === undefined ? '' : `#${anchor}`}`)
  return false
}
