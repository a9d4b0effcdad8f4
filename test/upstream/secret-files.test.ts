import { rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { createService } from '../support/service.ts'
import { listening } from '../support/listening.ts'

const seen: Array<string | undefined> = []
const server = createServer((request, response) => {
  seen.push(request.headers.authorization)
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ said: request.headers.authorization }))
})
await listening(t, server)

t.test('a worker without SECRETS_KEY uses the files of SECRETS_DIR, each call as they are, and shows nothing of them', async t => {
  const dir = t.testdir({ api: 'first-token-of-file\n' })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const { client } = await createService(t, {
    tools: [{ name: 'who', http: { method: 'GET', url, headers: { Authorization: { secret: 'api', prefix: 'Bearer ' } } } }],
    env: { HTTP_PRIVATE_HOSTS: '127.0.0.1', SECRETS_DIR: dir }
  })
  const answers = [await client.call('who')]
  writeFileSync(join(dir, 'api'), 'second-token-of-file')
  answers.push(await client.call('who'))
  rmSync(join(dir, 'api'))
  t.match(await client.call('who'), { ok: false, error: { code: 'SECRET_MISSING' } })
  t.strictSame(seen, ['Bearer first-token-of-file', 'Bearer second-token-of-file'])
  t.match(answers, [{ ok: true }, { ok: true }])
  t.notMatch(JSON.stringify(answers), /token-of-file/)
})

t.test('a worker uses a secret of Vault as it is at each call, and says that Vault can\'t be asked, which is no missing secret', async t => {
  seen.length = 0
  let answer: [number, unknown] = [200, { data: { data: { value: 'first-token-of-vault' }, metadata: {} } }]
  const vault = createServer((request, response) => {
    const [status, body] = request.url === '/v1/secret/data/api' ? answer : [403, { errors: ['permission denied'] }]
    response.writeHead(status).end(JSON.stringify(body))
  })
  await listening(t, vault)
  const [url, vaultUrl] = [server, vault].map(each => `http://127.0.0.1:${(each.address() as AddressInfo).port}`)
  const { client } = await createService(t, {
    tools: [{ name: 'who', http: { method: 'GET', url: `${url}/`, headers: { Authorization: { secret: 'api', prefix: 'Bearer ' } } } }],
    env: { HTTP_PRIVATE_HOSTS: '127.0.0.1', SECRETS_VAULT_URL: `${vaultUrl}/v1/secret/data`, SECRETS_VAULT_TOKEN_PATH: join(t.testdir({ token: 'vault-token' }), 'token') }
  })
  const answers = [await client.call('who')]
  answer = [503, { errors: ['Vault is sealed'] }]
  t.match(await client.call('who'), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: /could not be read from the operator's Vault/ } })
  answer = [404, { errors: [] }]
  t.match(await client.call('who'), { ok: false, error: { code: 'SECRET_MISSING' } })
  t.strictSame(seen, ['Bearer first-token-of-vault'])
  t.notMatch(JSON.stringify(answers), /token-of-vault/)
})
