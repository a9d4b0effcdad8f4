import { HttpError } from '@toolyard/contract'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Type } from '@toolyard/contract/type'
import { Assets, type Asset } from './assets.ts'
import { pageHeaders } from '../plugins/page-headers.ts'
import type { App } from '../plugins/typed-app.ts'

const compress = promisify(gzip)

/** A tool's output is text whatever it holds. */
const headers = pageHeaders("style-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'")

/** Shown where the console was not built. */
const missingPage = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Toolyard</title></head>
<body><h1>The console is not built</h1><p>Run <code>npm run build</code> in the checkout of Toolyard, and load this page again. The API works without it.</p></body></html>
`

/** The console: static files, which hold no secret; who logs in there is decided by the routes that it asks. */
export async function consoleRoutes (app: App, { dir, basePath }: { dir: string, basePath: string }): Promise<void> {
  let assets = new Assets(dir)
  const packed = new Map<string, Promise<Buffer>>()
  app.addHook('onRequest', async (_request, reply) => { void reply.headers(headers) })

  app.get('/', { config: { page: true } }, async (_request, reply) => {
    void reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache')
    const page = await readFile(join(dir, 'index.html'), 'utf8').catch(() => undefined)
    if (page === undefined) return await reply.code(503).send(missingPage)
    return await reply.send(page.replaceAll('="./', `="${basePath}/`).replace('data-base=""', `data-base="${basePath}"`))
  })

  app.get('/assets/:file', { schema: { params: Type.Object({ file: Type.String() }) } }, async (request, reply) => {
    const path = `assets/${request.params.file}`
    const asset = await read(path)
    if (asset === undefined) throw new HttpError('NOT_FOUND', 'No such file')
    // Their names change with their content.
    void reply.type(asset.type).headers({ 'cache-control': 'public, max-age=31536000, immutable', vary: 'accept-encoding' })
    if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return await reply.send(asset.body)
    const small = packed.get(path) ?? compress(asset.body)
    packed.set(path, small)
    return await reply.header('content-encoding', 'gzip').send(await small)
  })

  /** A build may have taken the place of the one whose files are known. */
  async function read (path: string): Promise<Asset | undefined> {
    const known = await assets.read(path).catch(() => undefined)
    if (known !== undefined) return known
    assets = new Assets(dir)
    return await assets.read(path).catch(() => undefined)
  }
}
