import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { openSecretSource } from '@toolyard/store'
import t, { type Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'

/*
 * No Vault is in Debian or npm: these are the answers that its documentation of KV version 2, and of renew-self, has, and those
 * that its source gives for errors.
 */
const metadata = { created_time: '2026-03-22T02:24:06.945319214Z', custom_metadata: null, deletion_time: '', destroyed: false, version: 2 }
const secret = (data: unknown): object => ({ request_id: '5f9ac1b7', lease_id: '', renewable: false, lease_duration: 0, data: { data, metadata }, wrap_info: null, warnings: null, auth: null })
const deleted = { data: { data: null, metadata: { ...metadata, deletion_time: '2026-03-22T02:36:43.986212308Z' } } }
const answers: Record<string, [number, unknown]> = {
  github: [200, secret({ value: 'a-token' })],
  field: [200, secret({ token: 'a-token' })],
  version1: [200, { data: { value: 'a-token' } }],
  gone: [404, { errors: [] }],
  deleted: [404, deleted],
  elsewhere: [404, { errors: ['no handler for route "secret/data/toolyard/elsewhere". route entry not found.'] }],
  denied: [403, { errors: ['1 error occurred:\n\t* permission denied\n\n'] }],
  sealed: [503, { errors: ['Vault is sealed'] }],
  html: [502, '<html>'],
  large: [200, secret({ value: 'x'.repeat(65_537) })],
  endless: [200, secret({ value: 'x'.repeat(2_000_000) })]
}
const renewed = { auth: { client_token: 'first', policies: ['toolyard'], lease_duration: 3_600, renewable: true } }

async function openVault (t: Test, answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer)
  return `http://127.0.0.1:${await listening(t, server)}`
}

function opened (t: Test, base: string): { read: (name: string) => Promise<unknown>, faults: string[], token: string } {
  const token = join(t.testdir(), 'token')
  writeFileSync(token, 'first\n')
  const faults: string[] = []
  const source = openSecretSource(undefined, { directory: undefined, vault: { url: `${base}/v1/secret/data/toolyard`, tokenFile: token } }, fault => { faults.push(fault.reason) })
  return {
    faults,
    token,
    async read (name) {
      const values = await source?.open([name], { keyName: 'any', tenant: 'acme' })
      return values === undefined || 'fault' in values ? values : values.get(name)
    }
  }
}

function recorded ({ url = '' }: IncomingMessage, response: ServerResponse): void {
  const [status, body] = url === '/v1/auth/token/renew-self' ? [200, renewed] : answers[url.replace('/v1/secret/data/toolyard/', '')] ?? [400, { errors: [url] }]
  response.writeHead(status, { 'content-type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body))
}

void t.test('a secret of Vault is the text in its field value; what is not there, or was deleted, is missing', async t => {
  const { read, faults } = opened(t, await openVault(t, recorded))
  t.equal(await read('github'), 'a-token')
  t.same([await read('gone'), await read('deleted'), await read('..'), await read('.')], [undefined, undefined, undefined, undefined])
  t.strictSame(faults, [])
})

void t.test('where Vault can\'t be asked the call is told so without its words, and the log has them', async t => {
  const { read, faults } = opened(t, await openVault(t, recorded))
  const expected: Record<string, RegExp> = {
    denied: /answered 403, .*permission denied/,
    sealed: /answered 503, "Vault is sealed"/,
    elsewhere: /answered 404, "no handler for route/,
    html: /answered 502/,
    version1: /not that of KV version 2/,
    field: /no field "value"/,
    large: /more than 65536 bytes/,
    endless: /more than \d+ bytes/
  }
  for (const [name, reason] of Object.entries(expected)) {
    t.strictSame(await read(name), { fault: `the secret ${name} could not be read from the operator's Vault; the log of the worker says why` })
    t.match(faults.pop(), reason)
  }
  const away = opened(t, 'http://127.0.0.1:1')
  t.match(await away.read('github'), { fault: /the secret github/ })
  t.match(away.faults.pop(), /can't be reached: /)
})

void t.test('each request has the token that the file has then, and none follows a redirect', async t => {
  const seen: Array<string | string[] | undefined> = []
  const other = await openVault(t, (request, response) => { seen.push(`elsewhere ${String(request.headers['x-vault-token'])}`); response.end() })
  const base = await openVault(t, (request, response) => {
    if (request.url?.endsWith('/moved') === true) return void response.writeHead(307, { location: other }).end()
    if (request.method === 'GET') seen.push(request.headers['x-vault-token'])
    recorded(request, response)
  })
  const { read, token } = opened(t, base)
  await read('github')
  writeFileSync(token, 'second')
  await read('github')
  t.match(await read('moved'), { fault: /moved/ })
  t.strictSame(seen, ['first', 'second'])
})

void t.test('the token is renewed from the start on, and one that can\'t be is told of', async t => {
  const asked: string[] = []
  const { faults } = opened(t, await openVault(t, ({ method, url, headers }, response) => {
    asked.push(`${method} ${url} ${String(headers['x-vault-token'])}`)
    response.writeHead(403).end(JSON.stringify({ errors: ['permission denied'] }))
  }))
  await waitFor('the fault of renewing', () => faults.length > 0)
  t.strictSame(asked, ['POST /v1/auth/token/renew-self first'])
  t.match(faults[0], /the token can't be renewed: Vault answered 403/)
})
