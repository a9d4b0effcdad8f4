import { connect } from 'node:net'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createService, testKeys } from '../support/service.ts'
import { turnEnvironment, turnsOf } from '../event-loop/service-turns.ts'
import { chatterEntry, chatterFiles } from './tools.ts'

const env = turnEnvironment()
const service = await createService(t, { files: chatterFiles, tools: [chatterEntry], env })
const leavesLoopFree = turnsOf({ api: service.api, workers: [] }, env)
const { hostname, port } = new URL(service.api.address)
const readers = 500
const lines = 1_000

/** Opens a stream, reads all lines of the log, and leaves. */
function readAll (id: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => { socket.write(`GET /v1/jobs/${id}/stream HTTP/1.1\r\nhost: x\r\nx-api-key: ${testKeys.read}\r\n\r\n`) })
    let end = ''
    socket.setEncoding('latin1').on('error', reject).on('close', resolve).on('data', (text: string) => {
      end = (end + text).slice(-2_000)
      if (end.includes(`line ${lines - 1} `)) socket.destroy()
    })
  })
}

t.test('promise 10: no log of a job that has many readers holds up the API, and each of them gets all of it', async t => {
  const { results: [result] } = await service.client.batch([{ call_id: 'c', name: 'chatter', arguments: { lines, pad: 50, stopAt: 'go' } }], { mode: 'async' })
  const id = result?.job_id ?? ''
  await readAll(id)
  await leavesLoopFree(t, `${readers} readers of ${lines} lines`, () => Promise.all(Array.from({ length: readers }, () => readAll(id))))
  writeFileSync(join(service.dir, 'workspace/go'), '')
})
