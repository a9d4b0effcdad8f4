import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { runToolyard } from '../cli/toolyard.ts'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'
import { createService } from '../support/service.ts'
import { firstTurnIsShort, turnEnvironment } from './service-turns.ts'

const remote = createServer((_request, response) => { response.setHeader('content-type', 'application/json').end('{"a": 1}') })
const address = `http://127.0.0.1:${await listening(t, remote)}`

const env = turnEnvironment()
const service = await createService(t, {
  workers: 0,
  files: { 'tools/bin/plain': '#!/bin/sh\necho\n' },
  tools: [
    { name: 'plain', command: ['./tools/bin/plain'] },
    { name: 'asked', http: { method: 'GET', url: `${address}/a` } },
    { name: 'own', mcp: { command: process.execPath, args: [fileURLToPath(new URL('../executors/hostile-server.js', import.meta.url))] }, tools: ['echo'] }
  ],
  env: { ...env, HTTP_PRIVATE_HOSTS: '127.0.0.1', SANDBOX: 'off' }
})
t.before(async () => {
  const accepted = await runToolyard(['accept', 'tools.json', '--yes'], { cwd: service.dir, env: { SANDBOX: 'off', WORKSPACE_DIR: `${service.dir}/workspace` } })
  if (accepted.status !== 0) throw new Error(accepted.stderr)
  await waitFor('its tool is published', async () => (await service.client.request('/v1/agent-tools')).text.includes('own_echo'))
})

for (const [what, name, args] of [['a command', 'plain', {}], ['an HTTP tool', 'asked', {}], ['a tool of an MCP server', 'own_echo', { text: 'hello' }]] as const) {
  t.test(`promise 10: the first call of ${what} holds up no other call of its worker`, async t => {
    await firstTurnIsShort(t, what, { start: () => service.startWorker(), env }, async () => {
      const answer = await service.client.request(`/v1/tools/${name}`, { body: args })
      t.equal(answer.status, 200, answer.text)
    })
  })
}
