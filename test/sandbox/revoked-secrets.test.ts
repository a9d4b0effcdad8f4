import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'
import { createService } from '../support/service.ts'
import { withoutBox } from './boxed-tools.ts'

const skip = await withoutBox()
/** Requests of the calls to the API, and when they came. */
const seen: Array<{ call: string, token: string, at: number }> = []
const api = createServer(({ url = '', headers }, response) => {
  seen.push({ call: url, token: headers.authorization ?? '', at: performance.now() })
  response.end('seen')
})
await listening(t, api)
const place = `127.0.0.1:${(api.address() as AddressInfo).port}`
/** Asks again and again over one connection, until it is denied. */
const program = `const http = require("node:http")
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
const proxy = new URL(process.env.HTTP_PROXY)
const headers = { authorization: process.env.TOKEN, host: "${place}", "proxy-authorization": "Basic " + Buffer.from(proxy.username + ":" + proxy.password).toString("base64") }
const ask = () => http.get({ agent, host: proxy.hostname, port: proxy.port, path: "http://${place}/call-" + process.env.TOKEN.slice(-8), headers }, response => {
  let text = ""
  response.on("data", chunk => { text += chunk }).on("end", () => response.statusCode === 200 ? setTimeout(ask, 20) : console.log(text))
})
ask()`

void t.test('a secret that was removed, or changed, is used by no request of any worker a second later, also not by calls that began before', { skip }, async t => {
  const { client } = await createService(t, {
    workers: 2,
    files: { 'tools/bin/ask': `#!/bin/sh\nexec ${process.execPath} -e '${program}'\n` },
    tools: [
      { name: 'ask', command: ['./tools/bin/ask'], permissions: [], network: [place], secrets: { TOKEN: { secret: 'api', hosts: [place] } }, timeoutSec: 60 },
      { name: 'once', http: { method: 'GET', url: `http://${place}/once`, headers: { Authorization: { secret: 'api' } } } }
    ],
    env: { SANDBOX: 'require', HTTP_PRIVATE_HOSTS: '127.0.0.1', SECRETS_KEY: 'ab'.repeat(32), WORKER_CONCURRENCY: '2' }
  })
  const changes: Array<[string, object]> = [['removed', { method: 'DELETE' }], ['changed', { method: 'PUT', body: { value: 'another-token-0123456789' } }]]
  for (const [how, change] of changes) {
    const value = `token-that-is-${how}-0123456789`
    await client.request('/v1/secrets/api', { method: 'PUT', body: { value } })
    const calls = Array.from({ length: 4 }, async () => await client.call('ask', {}, { wait_ms: 60_000 }))
    await waitFor('all calls of both workers ask', () => new Set(seen.filter(({ token }) => token === value).map(({ call }) => call)).size === 4)
    await client.request('/v1/secrets/api', change)
    const at = performance.now()
    for (const result of await Promise.all(calls)) t.match(result, { ok: true, output: /^egress: denied .*: the secret api was removed or changed after the call began/ }, how)
    const later = seen.filter(each => each.token === value && each.at > at + 1_000)
    t.strictSame(later, [], how)
    if (how === 'removed') t.match(await client.call('once'), { ok: false, error: { code: 'SECRET_MISSING' } })
  }
})
