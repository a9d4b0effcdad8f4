import { HttpError } from '@toolyard/contract'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Type } from '@toolyard/contract/type'
import { Assets, type Asset } from '../routes/assets.ts'
import { pageHeaders } from '../plugins/page-headers.ts'
import type { App } from '../plugins/typed-app.ts'
import { docsPage, docsStyle } from './page.ts'

const require = createRequire(import.meta.url)

const headers = pageHeaders("style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'")

/** The page loads these of Swagger UI. */
const parts = new Set(['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'])

/** The document of OpenAPI as a page, for everybody: without a key it shows the fixed routes. */
export async function docsRoutes (app: App, { basePath }: { basePath: string }): Promise<void> {
  const packageFile = require.resolve('@fastify/swagger-ui/package.json')
  const version = /"version": *"([\w.-]+)"/.exec(await readFile(packageFile, 'utf8'))?.[1] ?? ''
  const assets = new Assets(join(dirname(packageFile), 'static'))
  app.addHook('onRequest', async (_request, reply) => { void reply.headers(headers) })

  app.get('/docs', async (_request, reply) => await reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(docsPage(basePath, version)))
  app.get('/docs/', async (_request, reply) => await reply.redirect(`${basePath}/docs`, 308))

  app.get('/docs/:file', { schema: { params: Type.Object({ file: Type.String() }) } }, async (request, reply) => {
    const asset = await read(request.params.file)
    if (asset === undefined) throw new HttpError('NOT_FOUND', 'No such file')
    return await reply.type(asset.type).header('cache-control', 'public, max-age=3600').send(asset.body)
  })

  async function read (file: string): Promise<Asset | undefined> {
    if (file === 'page.css') return { type: 'text/css; charset=utf-8', body: Buffer.from(docsStyle) }
    if (file === 'script.js') return { type: 'text/javascript; charset=utf-8', body: await readFile(new URL('./script.js', import.meta.url)) }
    return parts.has(file) ? await assets.read(file) : undefined
  }
}
