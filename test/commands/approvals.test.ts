import type { ApprovalDetail, InvokeBatchResponse } from '@toolyard/contract'
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { read, reach } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { createService, testKeys } from '../support/service.ts'
import { runToolyard, toolyardProgram, type Ran } from '../cli/toolyard.ts'

const number = '1152921504606846977'
const { client, api, dir } = await createService(t, {
  files: {
    'tools/bin/cat': '#!/bin/sh\nexec cat\n',
    'tools/bin/seat': '#!/bin/sh\necho \'{"$ask": {"text": "Which seat?", "schema": {"type": "object"}}}\'\n'
  },
  tools: [
    { name: 'pay', schema: { type: 'object' }, command: ['./tools/bin/cat'], approval: { self: true } },
    { name: 'seat', command: ['./tools/bin/seat'], asks: true }
  ]
})
const env = { TOOLYARD_URL: api.address, TOOLYARD_API_KEY: testKeys.admin }
const run = async (...args: string[]): Promise<Ran> => await runToolyard(['approvals', ...args], { env })

async function hold (): Promise<string> {
  const body = `{"calls":[{"call_id":"c","name":"pay","arguments":{"to":${number}}}]}`
  return (await client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', { body })).body.results[0]?.job_id ?? ''
}

/** Runs the command at a terminal, and answers what it asks with this line. */
async function atTerminal (
  args: string[], line: string, meanwhile: () => Promise<void> = async () => {}
): Promise<{ status: number | null, text: string }> {
  const command = [process.execPath, toolyardProgram, 'approvals', ...args].map(word => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], { env: { PATH: process.env['PATH'], ...env } })
  let text = ''
  return await new Promise((resolve, reject) => {
    child.stdout.on('data', chunk => {
      const hadAsked = text.includes('[y/N]')
      text += String(chunk)
      if (!hadAsked && text.includes('[y/N]')) meanwhile().then(() => { child.stdin.write(`${line}\n`) }, reject)
    })
    child.once('error', reject).once('close', status => { resolve({ status, text }) })
  })
}

t.test('a call is decided about by the digest of what was shown, with its numbers as they were written', async t => {
  const id = await hold()
  const shown = await run('show', id)
  t.match(shown, { status: 0, stdout: `"to": ${number}` })
  t.ok((await run('list', '--json')).stdout.includes(number))
  const { approval: { digest } } = JSON.parse(shown.stdout) as ApprovalDetail
  t.match(await run('approve', id, '--digest', '0'.repeat(64)), { status: 4, stderr: /digest is not that of the call/ })
  const approved = await run('approve', id, '--digest', digest, '--json')
  t.match(approved, { status: 0, stdout: `"to": ${number}` })
  await reach(client, id, 'succeeded')
})

t.test('what can not be seen in the arguments is escaped where they are shown', async t => {
  const body = '{"calls":[{"call_id":"c","name":"pay","arguments":{"to\u200b":"\u00a0\u202e1"}}]}'
  const id = (await client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', { body })).body.results[0]?.job_id ?? ''
  t.ok((await run('show', id)).stdout.includes('"to\\u200b": "\\u00a0\\u202e1"'))
  t.ok((await run('list')).stdout.includes('{"to\\u200b":"\\u00a0\\u202e1"}'))
})

t.test('without a terminal nothing is decided unless the digest says about what', async t => {
  const id = await hold()
  const says = `--digest is missing: what was shown is what is decided. toolyard approvals show ${id} prints`
  for (const decision of ['approve', 'deny']) t.match(await run(decision, id), { status: 2, stdout: '', stderr: says })
  t.equal((await read(client, id)).status, 'held')
})

t.test('at a terminal the call is shown, and is decided about once somebody agrees', async t => {
  const id = await hold()
  for (const line of ['', 'n', 'no', 'yep']) t.match(await atTerminal(['approve', id], line), { status: 1, text: 'nothing was decided' }, line)
  t.match(await atTerminal(['approve', id, '--json'], 'y'), { status: 2, text: '--digest is missing' })
  t.equal((await read(client, id)).status, 'held')
  t.match(await atTerminal(['approve', id], 'y'), { status: 0, text: new RegExp(`"to": ${number}[^]*Approve this call, as it is shown here\\? \\[y/N\\][^]*approved`) })
  await reach(client, id, 'succeeded')
  const other = await hold()
  t.match(await atTerminal(['deny', other, '--reason', 'No.'], 'yes'), { status: 0, text: /Deny this call[^]*denied/ })
  t.match(await reach(client, other, 'failed'), { error: { code: 'APPROVAL_DENIED' } })
})

t.test('a call that is held again while somebody looks at it at a terminal is not decided about', async t => {
  const id = await hold()
  const held = await client.held(id)
  const answer = await atTerminal(['approve', id], 'y', async () => {
    // Approved as it was shown, and changed before it runs: it is held again with another digest.
    await writeFile(join(dir, 'tools/bin/cat'), '#!/bin/sh\n# changed\nexec cat\n')
    await client.decide(held, 'approve')
    await waitFor('it is held again', async () => typeof (await read(client, id)).approval?.changed === 'string')
  })
  t.match(answer, { status: 4, text: /digest is not that of the call as it is now/ })
  t.equal((await read(client, id)).status, 'held')
})

t.test('of many held calls a page is listed, with the line that lists the next one', async t => {
  const ids = [await hold(), await hold()]
  const first = await run('list', '--tool', 'pay', '--limit', '1')
  t.match(first.stdout, ids[1])
  const [, line = ''] = /^More: toolyard approvals (list --tool pay --limit 1 --cursor \S+)$/m.exec(first.stdout) ?? []
  t.match((await run(...line.split(' '))).stdout, ids[0])
})

t.test('who calls a tool is told that the call waits for a person, and how to end that; when the time is over the call goes on', async t => {
  const held = await runToolyard(['call', 'pay', '--timeout', '1'], { env })
  t.match(held, { status: 5, stderr: /waiting: Job (\S+) waits until somebody approves it\. toolyard approvals approve \1 / })
  t.equal(held.stderr.match(/waiting: /g)?.length, 1)
  t.match(await runToolyard(['call', 'seat', '--timeout', '1'], { env }), {
    status: 5, stderr: /waiting: The tool asks: Which seat\? toolyard jobs show (\S+) prints the question and its schema, and toolyard jobs answer \1 JSON answers it/
  })
})
