import { connect } from 'node:net'
import t from 'tap'
import { submit } from '../jobs/submission.ts'
import { growthMb } from '../support/memory-growth.ts'
import { createService, testKeys } from '../support/service.ts'
import { chatterEntry, chatterFiles } from './tools.ts'

// What is let go leaves at once: what stays is held.
const service = await createService(t, { files: chatterFiles, tools: [chatterEntry], env: { NODE_OPTIONS: '--max-old-space-size=256' } })
const { client, api } = service
const { hostname, port } = new URL(api.address)
const streams = 600

t.test('streams of a large job that are open take no memory for the job: all of them fit into an API with a heap of 256 MB', async t => {
  const { id } = await submit(client, { type: 'agentcli.chatter', input: { lines: 1, pad: 1, stopAt: 'x'.repeat(900_000) }, delay_ms: 600_000 })
  let ended = 0
  const grown = await growthMb(api.child.pid ?? 0, async () => {
    for (let at = 0; at < streams; at++) {
      const socket = connect(Number(port), hostname)
      t.teardown(() => { socket.destroy() })
      socket.write(`GET /v1/jobs/${id}/stream HTTP/1.1\r\nhost: x\r\nx-api-key: ${testKeys.read}\r\n\r\n`)
      await new Promise<void>((resolve, reject) => {
        let bytes = 0
        socket.on('error', reject).on('close', () => { ended += 1; resolve() }).on('data', (piece: Buffer) => { if ((bytes += piece.length) > 900_000) resolve() })
      })
    }
  })
  t.equal(ended, 0)
  t.equal(api.child.exitCode, null)
  t.ok(grown < streams * 0.9, `it grew by ${Math.round(grown)} MB`)
  t.equal((await client.request('/v1/agent-tools')).status, 200)
})
