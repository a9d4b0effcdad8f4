import { consoleRoutes } from '@toolyard/api'
import Fastify, { type FastifyInstance } from 'fastify'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { gzipSync } from 'node:zlib'
import { repoRoot } from '../repo/source-tree.ts'

const dir = join(repoRoot, 'apps/api/dist/console')
const most = 200_000

/** The routes of the console alone. */
function serve (from: string, basePath = ''): FastifyInstance {
  const app = Fastify()
  void app.register(consoleRoutes as never, { dir: from, basePath })
  t.teardown(() => app.close())
  return app
}

t.test('the page is checked for changes at each visit, its files are kept by their names, and nothing comes from elsewhere', async t => {
  const app = serve(dir, '/tools')
  const page = await app.inject('/')
  t.equal(page.statusCode, 200)
  t.equal(page.headers['cache-control'], 'no-cache')
  t.match(page.headers['content-security-policy'], /default-src 'none'; script-src 'self'; style-src 'self';/)
  t.notMatch(page.headers['content-security-policy'], /unsafe/)
  const files = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(match => match[1] ?? '').filter(file => file !== 'data:,')
  t.ok(files.length >= 2)
  t.match(page.body, /data-base="\/tools"/)
  for (const file of files) {
    t.match(file, /^\/tools\/assets\/[\w-]+\.(?:js|css)$/)
    const plain = await app.inject({ url: file.slice('/tools'.length) })
    t.match([plain.statusCode, plain.headers['cache-control']], [200, 'public, max-age=31536000, immutable'])
    const small = await app.inject({ url: file.slice('/tools'.length), headers: { 'accept-encoding': 'gzip, br' } })
    t.match([small.statusCode, small.headers['content-encoding']], [200, 'gzip'])
    t.ok(small.rawPayload.length < plain.rawPayload.length)
  }
})

t.test('the files of the page are less than 200 kB, compressed', async t => {
  const names = await readdir(join(dir, 'assets'))
  const sizes = await Promise.all(names.map(async name => gzipSync(await readFile(join(dir, 'assets', name))).length))
  t.ok(names.length > 0)
  t.ok(sizes.reduce((sum, size) => sum + size, 0) < most, `${sizes.join(' + ')} bytes`)
})

t.test('a file of the page is in memory once, however many clients are sent it and do not read it', async t => {
  const app = serve(dir)
  const sent: unknown[] = []
  app.addHook('onSend', async (_request, _reply, payload) => { sent.push(payload) })
  const [name = ''] = (await readdir(join(dir, 'assets'))).filter(each => each.endsWith('.js'))
  const get = async (): Promise<number> => (await app.inject(`/assets/${name}`)).statusCode
  t.same(await Promise.all([get(), get()]), [200, 200])
  t.equal(await get(), 200)
  t.ok(Buffer.isBuffer(sent[0]))
  t.equal(new Set(sent).size, 1)
})

t.test('paths that leave the directory are not found', async t => {
  const app = serve(dir)
  for (const url of ['/assets/..%2findex.html', '/assets/%2e%2e%2f%2e%2e%2fopen.js', '/assets/', '/assets/nothing.js', '/assets/..%5cindex.html', '/assets/%00.js']) {
    t.equal((await app.inject(url)).statusCode >= 400, true, url)
  }
})

t.test('where the console isn\'t built, the page says what to run', async t => {
  const app = serve(join(repoRoot, 'apps/console/nothing'))
  const page = await app.inject('/')
  t.equal(page.statusCode, 503)
  t.match(page.body, /npm run build/)
  t.equal((await app.inject('/assets/index.js')).statusCode >= 400, true)
})
