import { createServer } from 'node:net'
import t from 'tap'
import { listening } from '../support/listening.ts'
import { createService } from '../support/service.ts'
import { firstTurnIsShort, turnEnvironment } from './service-turns.ts'

const env = turnEnvironment()
const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
const forms: Record<string, string> = {
  trailers: `${chunked}2\r\n{}\r\n0\r\n${Array.from({ length: 100_000 }, (_, at) => `t${at}: b\r\n`).join('')}\r\n`,
  'chunks of one byte': `${chunked}${'1\r\n \r\n'.repeat(200_000)}0\r\n\r\n`
}
let keys = ''

const issuer = createServer(socket => {
  socket.on('error', () => {}).once('data', (request: Buffer) => {
    const document = JSON.stringify({ issuer: url, jwks_uri: `${url}/keys` })
    const metadata = `HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${document.length}\r\n\r\n${document}`
    socket.end(request.toString('latin1').startsWith('GET /keys ') ? keys : metadata)
  })
})
const url = `http://127.0.0.1:${await listening(t, issuer)}`
const service = await createService(t, { workers: 0, env: { ...env, MCP_AUTH_ISSUER: url } })

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Calls with a token that nobody has signed. Gives the status. */
async function call (address: string, alg: string): Promise<number> {
  const headers = { authorization: `Bearer ${part({ alg, kid: 'a' })}.${part({})}.AA`, 'content-type': 'application/json' }
  const answer = await fetch(`${address}/mcp`, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }) })
  await answer.text()
  return answer.status
}

t.test('promise 10: no set of keys of an issuer holds up the API by the form of its answer', async t => {
  const start = async (): ReturnType<typeof service.startApi> => {
    const fresh = await service.startApi()
    // A module that is loaded once counts elsewhere. Nobody is asked about such a token.
    t.equal(await call(fresh.address, 'none'), 401)
    return fresh
  }
  for (const [what, text] of Object.entries(forms)) {
    keys = text
    await firstTurnIsShort(t, what, { start, env }, async ({ address }) => { t.equal(await call(address, 'RS256'), 503) })
  }
})
