import { createServer } from 'node:http'
import t from 'tap'
import type { HttpRun } from '@toolyard/manifests'
import { listening } from '../support/listening.ts'
import { openExecutors, testTool } from '../support/tool.ts'
import { leavesLoopFree } from './longest-turn.ts'

const server = createServer((request, response) => { request.resume().on('end', () => { response.end('{}') }) })
const origin = `http://127.0.0.1:${await listening(t, server)}`
const executors = openExecutors(t)
const context = { jobId: 'job-1', timeoutMs: 20_000, signal: new AbortController().signal, log: () => {} }

t.test('promise 10: many arguments of a request with many fields hold up no worker', async t => {
  const query = Array.from({ length: 300 }, (_, at) => ({ name: `q${at}`, argument: `q${at}`, style: 'repeat' as const }))
  const args = Object.fromEntries(Array.from({ length: 29_000 }, (_, at) => [`a${at}`, 1]))
  const run: HttpRun = { kind: 'http', method: 'POST', origin, path: ['/'], search: '', query, headers: [], body: { kind: 'json', always: false } }
  await leavesLoopFree(t, '29,000 arguments and 300 fields', async () => {
    t.match(await executors.run(testTool(run, { permissions: ['network'] }), args, context), { ok: true })
  })
})
