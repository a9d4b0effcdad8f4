import { consoleHeader } from '@toolyard/contract'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { startHaproxy } from '../deploy/haproxy.ts'
import { readEnvironmentFile } from '../deploy/systemd.ts'
import { createService, testKeys } from '../support/service.ts'
import { ensureTestProgram } from '../support/test-program.ts'

const haproxy = await ensureTestProgram('haproxy')
const skip = 'missing' in haproxy ? haproxy.missing : false
// Where the proxy is on loopback, as here.
const { TRUST_PROXY: trusted = '' } = readEnvironmentFile('toolyard.env.example')
interface Answer { status: number | undefined, body: string }

/** Visitors of the proxy, each with an address of its own. */
const [stranger, operator] = ['127.0.0.2', '127.0.0.3']
let address = ''

t.before(async () => {
  if ('missing' in haproxy) return
  const { api, dir } = await createService(t, { workers: 0, env: { TRUST_PROXY: trusted } })
  address = (await startHaproxy(t, haproxy.path, dir, [new URL(api.address).port])).address
})

t.test('behind the bundled proxy, the tries of a stranger lock out the stranger, and nobody else', { skip }, async t => {
  for (let attempt = 0; attempt < 10; attempt++) t.equal((await logIn(stranger, `wrong-${attempt}`)).status, 401, `${attempt}`)
  t.match(await logIn(stranger, testKeys.admin), { status: 429, body: /RATE_LIMITED/ })
  t.match(await logIn(operator, testKeys.admin), { status: 200, body: /"name":"admin"/ })
})

t.test('a stranger who claims another address with each try is locked out all the same', { skip }, async t => {
  const [liar, other] = ['127.0.0.4', '127.0.0.5']
  for (let attempt = 0; attempt < 10; attempt++) {
    t.equal((await logIn(liar, `wrong-${attempt}`, { 'x-forwarded-for': `203.0.113.${attempt}`, forwarded: `for=203.0.113.${attempt}` })).status, 401)
  }
  t.equal((await logIn(liar, testKeys.admin, { 'x-forwarded-for': '203.0.113.99' })).status, 429)
  t.equal((await logIn(liar, testKeys.admin, { 'x-forwarded-for': other })).status, 429)
  t.equal((await logIn(other, testKeys.admin)).status, 200, 'nor does the lie lock out whose address it was')
})

/** Logs in to the console by way of the proxy, from an address of loopback. */
async function logIn (localAddress: string, key: string, headers: Record<string, string> = {}): Promise<Answer> {
  const body = JSON.stringify({ key })
  const asked = request(`${address}/v1/auth/login`, {
    method: 'POST',
    agent: false,
    localAddress,
    headers: { 'content-type': 'application/json', [consoleHeader]: '1', 'sec-fetch-site': 'same-origin', ...headers }
  })
  asked.end(body)
  const [answer] = await once(asked, 'response') as [IncomingMessage]
  return { status: answer.statusCode, body: await text(answer) }
}
