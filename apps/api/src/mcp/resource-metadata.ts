import { HttpError } from '@toolyard/contract'
import { metadataPath, type AccessTokens } from '../access/access-tokens.ts'
import type { App } from '../plugins/typed-app.ts'

/**
 * Tells clients of `/mcp` where access tokens are issued (RFC 9728), or that keys are used. The path of the resource
 * follows in the address; behind a proxy that serves all of this below a path, it may be that of the proxy.
 */
export async function resourceMetadataRoutes (app: App, { tokens }: { tokens: AccessTokens | undefined }): Promise<void> {
  const answer = async (): Promise<object> => {
    if (tokens !== undefined) return tokens.metadata()
    throw new HttpError('NOT_FOUND', 'No OAuth issuer is named here: send an API key in the header x-api-key, or as Authorization: Bearer KEY')
  }
  app.get(metadataPath, answer)
  app.get<{ Params: { '*': string } }>(`${metadataPath}/*`, async request => {
    const { pathname } = new URL(tokens?.metadata().resource ?? 'http://localhost/mcp')
    const asked = `/${request.params['*']}`
    if (asked !== pathname && asked !== '/mcp') throw new HttpError('NOT_FOUND', 'No such resource')
    return await answer()
  })
}
