import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, posix } from 'node:path'
import t from 'tap'
import { repoRoot } from '../repo/source-tree.ts'
import { listening } from '../support/listening.ts'
import { startBrowser } from './browser.ts'

const program = join(repoRoot, 'node_modules/vitepress/bin/vitepress.js')
const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.woff2': 'font/woff2' }

function build (root: string, outDir: string): { status: number | null, output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'build', join(root, 'docs'), '--outDir', outDir], { encoding: 'utf8' })
  return { status, output: `${stdout}${stderr}` }
}

/** Links to a place of a page that has no such place, as `page: link`. */
function deadAnchors (site: string, pages: string[]): string[] {
  const texts = new Map(pages.map(name => [`/${name}`, readFileSync(join(site, name), 'utf8')]))
  return [...texts].flatMap(([page, text]) => [...new Set([...text.matchAll(/<a[^>]* href="([^"#:]*)#([^"]+)"/g)].map(([, path = '', id = '']) => {
    const target = path === '' ? page : posix.resolve(posix.dirname(page), path)
    return texts.get(target)?.includes(` id="${decodeURIComponent(id)}"`) === true ? '' : `${page}: ${path}#${id}`
  }))]).filter(link => link !== '')
}

await t.test('npm run docs builds every page; the site asks no other host, and its search works', async t => {
  const site = t.testdir()
  const { status, output } = build(repoRoot, site)
  t.equal(status, 0, status === 0 ? 'it is built' : output)
  const pages = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.html'))
  t.ok(pages.length > 90, `${pages.length} pages`)
  for (const page of ['index.html', 'docs/operations.html', 'docs/reference/commands.html', 'docs/decisions/README.html']) t.ok(pages.includes(page), page)
  const linked = new Set(pages.flatMap(page => [...readFileSync(join(site, page), 'utf8').matchAll(/<(?:script|link|img)[^>]*(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url)))
  t.strictSame([...linked].filter(url => !url.startsWith('data:') && !existsSync(join(site, url.split('#')[0] ?? ''))), [], 'and what they load is there')
  t.notMatch(readFileSync(join(site, 'docs/security.html'), 'utf8'), '&lt;!--', 'and no comment shows')
  t.strictSame(deadAnchors(site, pages), [], 'and each link to a heading finds it')

  const browser = await startBrowser(t)
  if (typeof browser === 'string') {
    t.comment(`not tried in a browser: ${browser}`)
    return
  }
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = join(site, new URL(request.url ?? '/', 'http://localhost').pathname.replace(/\/$/, '/index.html'))
    const there = existsSync(path)
    response.writeHead(there ? 200 : 404, { 'content-type': types[extname(path)] ?? 'application/octet-stream' }).end(there ? readFileSync(path) : '')
  })
  await listening(t, server)
  const { page, problems } = await browser.open()
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  page.on('request', request => { asked.push(request.url()) })
  await page.goto(`${address}/docs/operations.html`)
  await page.getByRole('heading', { level: 1, name: 'Operations' }).waitFor()
  await page.getByRole('button', { name: 'Search' }).first().click()
  await page.getByRole('searchbox').fill('seccomp')
  const found = page.getByRole('option').first()
  await found.waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1 }).waitFor()
  t.ok(asked.length > 3)
  t.strictSame(asked.filter(url => !url.startsWith(address) && !url.startsWith('data:')), [])
  t.strictSame(problems, [])
})

await t.test('a link that leads nowhere fails the build', async t => {
  const root = t.testdir({ docs: { 'a.md': '# A\n\n[gone](gone.md)\n', decisions: { 'README.md': '# All\n' } }, 'README.md': '# Start\n\n[A](docs/a.md)\n' })
  mkdirSync(join(root, 'docs/.vitepress'))
  for (const file of ['config.js', 'sidebar.js']) cpSync(join(repoRoot, 'docs/.vitepress', file), join(root, 'docs/.vitepress', file))
  writeFileSync(join(root, 'package.json'), '{"type": "module"}')
  symlinkSync(join(repoRoot, 'node_modules'), join(root, 'node_modules'))
  const { status, output } = build(root, join(root, 'site'))
  t.equal(status, 1)
  t.match(output, /dead link .*gone/)
})
