import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose'
import { createServer, type ServerResponse } from 'node:http'
import type { Cleanup } from './cleanup.ts'
import { listening } from './listening.ts'

/** How a token differs from one that is as it should be. */
export interface TokenOptions {
  /** Claims in place of those of a good token; undefined leaves one out. */
  claims?: Record<string, unknown>
  header?: Record<string, unknown>
  key?: CryptoKey | Uint8Array
}

interface TestIssuer {
  url: string
  /** Paths that it was asked for, in order. */
  asked: string[]
  /** Answers in place of its own, by path. */
  answers: Map<string, (response: ServerResponse) => void>
  /** Makes an access token for `alice` with the scopes `toolyard:read toolyard:admin`. */
  token: (audience: string, options?: TokenOptions) => Promise<string>
  publicKey: Awaited<ReturnType<typeof exportJWK>>
}

/** Starts an issuer that gives a token to whoever asks its token endpoint. */
export async function startIssuer (t: Cleanup): Promise<TestIssuer> {
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const jwk = { ...await exportJWK(publicKey), kid: 'key-1', alg: 'ES256', use: 'sig' }
  const asked: string[] = []
  const answers: TestIssuer['answers'] = new Map()
  const token: TestIssuer['token'] = async (audience, { claims, header, key = privateKey } = {}) => {
    const now = Math.floor(Date.now() / 1_000)
    const all = { iss: url, sub: 'alice', aud: audience, scope: 'toolyard:read toolyard:admin', iat: now, exp: now + 300, ...claims }
    const payload = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as JWTPayload
    return await new SignJWT(payload).setProtectedHeader({ alg: 'ES256', kid: 'key-1', typ: 'at+jwt', ...header }).sign(key)
  }
  const json = (response: ServerResponse, body: object): void => { response.setHeader('content-type', 'application/json').end(JSON.stringify(body)) }
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.push(path)
    const answer = answers.get(path)
    if (answer !== undefined) return answer(response)
    if (path === '/.well-known/oauth-authorization-server') {
      return json(response, {
        issuer: url, jwks_uri: `${url}/keys`, token_endpoint: `${url}/token`, authorization_endpoint: `${url}/authorize`, response_types_supported: ['code']
      })
    }
    if (path === '/keys') return json(response, { keys: [jwk] })
    if (path !== '/token') return response.writeHead(404).end()
    let body = ''
    request.on('data', (piece: Buffer) => { body += piece.toString() })
    request.on('end', () => {
      const form = new URLSearchParams(body)
      const claims = { scope: form.get('scope') ?? undefined, sub: 'program' }
      void token(form.get('resource') ?? '', { claims }).then(access => { json(response, { access_token: access, token_type: 'Bearer', expires_in: 300 }) })
    })
  })
  const url = `http://127.0.0.1:${await listening(t, server)}`
  return { url, asked, answers, token, publicKey: jwk }
}
