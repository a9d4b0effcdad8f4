import { connect, createServer } from 'node:net'
import t from 'tap'
import { clientFiles, clientTools } from '../client/tools.ts'
import { waitFor } from '../support/condition.ts'
import { listening } from '../support/listening.ts'
import { createService, testKeys } from '../support/service.ts'
import { runPython, withoutPython } from './python.ts'

const skip = { skip: withoutPython }
const askTwice = `#!/bin/sh
if [ "$([ -z "$TOOLYARD_ANSWER" ] || wc -l < "$TOOLYARD_ANSWER")" = 2 ]; then echo '{}'; exit; fi
echo '{"$ask": {"text": "Sure?", "schema": {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}}}'
`
const service = await createService(t, {
  tools: [...clientTools, { name: 'ask_twice', description: 'Asks twice', schema: { type: 'object' }, command: ['./tools/bin/ask_twice'], asks: true }],
  files: { ...clientFiles, 'tools/bin/ask_twice': askTwice, 'workspace/kept.txt': 'remember the milk' },
  env: { SECRETS_KEY: '07'.repeat(32) }
})
const { client } = service

/** What becomes of an answer: so many bytes of it arrive. */
type Cut = (answer: Buffer) => number | Promise<number>
const whole: Cut = answer => answer.length
const lost: Cut = () => 0
const inHeaders: Cut = answer => answer.indexOf('\r\n') + 12
const inBody: Cut = answer => answer.length - 3

/** Runs the program with answers that are cut, one for each of its connections; the later ones arrive. */
async function through (cuts: readonly Cut[], ...args: string[]): Promise<unknown> {
  const left = [...cuts]
  const server = createServer(socket => {
    const cut = left.shift() ?? whole
    const upstream = connect({ port: Number(new URL(service.api.address).port) })
    const pieces: Buffer[] = []
    socket.on('error', () => {}).pipe(upstream)
    upstream.on('error', () => { socket.destroy() }).on('data', piece => pieces.push(piece))
    upstream.on('end', () => {
      const answer = Buffer.concat(pieces)
      void Promise.resolve(cut(answer)).then(length => { socket.end(answer.subarray(0, length)) })
    })
  })
  const port = await listening(t, server)
  return JSON.parse(await runPython('breaks.py', args, { TOOLYARD_URL: `http://127.0.0.1:${port}`, TOOLYARD_API_KEY: testKeys.admin }))
}

async function submit (type: string, rest: object = {}): Promise<string> {
  return (await client.request<{ job: { id: string } }>('/v1/jobs', { body: { type: `agentcli.${type}`, input: type === 'add' ? { a: 1, b: 2 } : {}, ...rest } })).body.job.id
}

t.test('an answer that breaks off in its headers or its body is asked for again, and no file is empty or cut for it', skip, async t => {
  t.equal(await through([inHeaders, inBody, lost], 'get', 'kept.txt'), 'remember the milk')
  t.equal(await through([inHeaders], 'stream', 'kept.txt'), 'remember the milk')
  t.strictSame(await through([inBody], 'stream', 'kept.txt'), ['UNREACHABLE', null], 'the pieces of one that has begun are their reader\'s')
  t.strictSame(await through([inHeaders, inBody, lost], 'call'), { sum: 3 })
})

t.test('what is removed or promoted, and whose answer is lost, is done', skip, async t => {
  const id = await submit('add', { delay_ms: 3_600_000 })
  t.equal(await through([lost], 'promote', id), id)
  await waitFor('the end', async () => (await client.request<{ job: { status: string } }>(`/v1/jobs/${id}`)).body.job.status === 'succeeded')
  t.equal(await through([lost], 'remove', id), 'removed')
  t.strictSame(await through([], 'remove', id), ['NOT_FOUND', 404])
  await client.request('/v1/secrets/LOST', { method: 'PUT', body: { value: 'a value' } })
  t.equal(await through([inHeaders], 'remove-secret', 'LOST'), 'removed')
  t.equal(await through([lost], 'remove-file', 'kept.txt'), 'removed')
})

t.test('an answer whose answer is lost is sent again, and answers no later question', skip, async t => {
  const id = await submit('ask_twice')
  const number = async (): Promise<number | undefined> => (await client.request<{ job: { question?: { number: number } } }>(`/v1/jobs/${id}`)).body.job.question?.number
  await waitFor('the first question', async () => await number() === 1)
  const untilTheNext: Cut = async () => {
    await waitFor('the second question', async () => await number() === 2)
    return 0
  }
  t.equal(await through([whole, untilTheNext], 'answer', id), id)
  t.equal(await number(), 2, 'nobody has answered it')
})
