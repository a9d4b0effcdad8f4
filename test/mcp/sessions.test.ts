import { existsSync, readFileSync } from 'node:fs'
import { resolve, join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { createService, makeKeys } from '../support/service.ts'
import { connect, eras, meta, post, rpc, textAt, type Era, type RpcAnswer } from './clients.ts'

const { keys, API_KEYS_JSON } = makeKeys({ admin: { name: 'operator' }, acme: { tenant: 'acme' }, other: { tenant: 'other' } })
const { client: http, api, dir, startApi } = await createService(t, {
  files: {
    'tools/bin/put': '#!/bin/sh\ncat > note.txt; echo written\n',
    'tools/bin/keep': '#!/bin/sh\necho x > kept.txt; echo \'{"kept":true}\'\n',
    'tools/bin/note': '#!/bin/sh\ncat note.txt\n',
    'tools/bin/nap': '#!/bin/sh\nsleep 2; cat note.txt\n'
  },
  tools: [
    { name: 'put', schema: { type: 'object' }, command: ['./tools/bin/put'] },
    { name: 'keep', schema: { type: 'object' }, command: ['./tools/bin/keep'] },
    { name: 'note', schema: { type: 'object' }, command: ['./tools/bin/note'] },
    { name: 'nap', schema: { type: 'object' }, command: ['./tools/bin/nap'] },
    { name: 'as_prompt', schema: { type: 'object' }, command: ['./tools/bin/note'], publishAs: 'prompt' },
    { name: 'as_resource', schema: { type: 'object' }, command: ['./tools/bin/note'], publishAs: { uri: 'note:mine' } }
  ],
  env: { API_KEYS_JSON }
})

/** One raw request of either era, whose `_meta` has more to say. */
async function ask (era: Era, method: string, params: Record<string, unknown>, about: object, { key = keys.acme, path = '/mcp' } = {}): Promise<RpcAnswer> {
  if (era === '2026-07-28') return await rpc(api.address, method, params, { key, path, meta: { ...meta, ...about } })
  return await post(`${api.address}${path}`, { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: about } }, { 'x-api-key': key, 'mcp-protocol-version': era })
}

for (const era of eras) {
  t.test(`a client of ${era} names a session`, async t => {
    t.test('in the address: calls, prompts and resources are in its files', async t => {
      const id = await http.session(keys.acme)
      const { client } = await connect(t, api.address, keys.acme, era, {}, `?session=${id}`)
      const put = await client.callTool({ name: 'put', arguments: { by: era } })
      t.equal(textAt(put), 'written')
      t.match((put.content as unknown[]).slice(1), [{ type: 'text', text: /in its session:\nworkspace:\/\/\/note.txt \(text\/plain, \d+ bytes\)$/ }], 'as a text, which each client takes')
      const kept = await client.callTool({ name: 'keep', arguments: {} })
      t.match(kept.content, [{ text: '{"kept":true}' }, { text: /kept\.txt/ }])
      t.notOk(kept.structuredContent, 'clients that show a structure alone would hide the files')
      const text = JSON.stringify({ by: era })
      t.equal(readFileSync(join(dir, 'sessions', id, 'note.txt'), 'utf8').trim(), text)
      t.notOk(existsSync(join(dir, 'workspace/note.txt')))
      t.match((await client.readResource({ uri: 'workspace:///note.txt' })).contents, [{ text: new RegExp(era) }])
      t.match((await client.readResource({ uri: 'note:mine' })).contents, [{ text: new RegExp(era) }])
      t.match((await client.getPrompt({ name: 'as_prompt' })).messages, [{ content: { text: new RegExp(era) } }])
      const uris = (await client.listResources()).resources.map(({ uri }) => uri)
      t.ok(uris.includes('workspace:///note.txt'))
      t.notOk(uris.includes('workspace:///README.md'), 'and the shared workspace is not in it')
    })

    t.test('in _meta, which wins over the address', async t => {
      const [one, two] = [await http.session(keys.acme), await http.session(keys.acme)]
      const about = { 'toolyard/session': one }
      const path = `/mcp?session=${two}`
      t.match((await ask(era, 'tools/call', { name: 'put', arguments: { in: 'one' } }, about, { path })).body, { result: { content: [{ text: 'written' }] } })
      t.match((await ask(era, 'tools/call', { name: 'note' }, about)).body, { result: { structuredContent: { in: 'one' } } })
      t.match((await ask(era, 'tools/call', { name: 'note' }, {}, { path })).body, { result: { isError: true } })
      t.match((await ask(era, 'resources/read', { uri: 'workspace:///note.txt' }, about)).body, { result: { contents: [{ text: /one/ }] } })
    })

    t.test('a session that its key may not see gives the answer of a missing one, and an invalid id is refused', async t => {
      const id = await http.session(keys.acme)
      t.match((await ask(era, 'tools/call', { name: 'put', arguments: {} }, { 'toolyard/session': id })).body, { result: {} })
      const missing = { error: { code: -32_000, message: 'Session not found', data: { code: 'NOT_FOUND' } } }
      for (const session of [id, '01a00000-0000-7000-8000-000000000000']) {
        for (const [method, params] of [
          ['tools/call', { name: 'note' }], ['resources/read', { uri: 'workspace:///note.txt' }], ['resources/list', {}], ['prompts/get', { name: 'as_prompt' }]
        ] as const) {
          t.match((await ask(era, method, params, { 'toolyard/session': session }, { key: keys.other })).body, missing, method)
          t.match((await ask(era, method, params, {}, { key: keys.other, path: `/mcp?session=${session}` })).body, missing, method)
        }
      }
      for (const session of ['..', `${id}/..`, id.toUpperCase(), '', 7, null, [id]]) {
        t.match((await ask(era, 'tools/call', { name: 'note' }, { 'toolyard/session': session })).body, { error: { code: -32_602, message: /toolyard\/session/ } })
      }
      for (const query of ['session=..', 'session=', `session=${id}&session=${id}`]) {
        const answer = await ask(era, 'tools/call', { name: 'note' }, {}, { path: `/mcp?${query}` })
        t.match([answer.status, answer.body], [400, { error: { code: -32_600, message: "'session' must be the id of a session" } }], query)
      }
    })
  })
}

t.test('a task is in the session of its call', async t => {
  const id = await http.session(keys.acme)
  const about = { 'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } }, 'toolyard/session': id }
  await ask('2026-07-28', 'tools/call', { name: 'put', arguments: { of: 'task' } }, about)
  const created = (await ask('2026-07-28', 'tools/call', { name: 'nap' }, about)).body.result
  t.match(created, { resultType: 'task' })
  const ended = await waitFor('it ends', async () => {
    const { result } = (await ask('2026-07-28', 'tasks/get', { taskId: created?.['taskId'] }, about)).body
    return result?.['status'] !== 'working' && result
  })
  t.match(ended, { status: 'completed', result: { structuredContent: { of: 'task' } } })
})

t.test('toolyard mcp names a session with --session', async t => {
  const id = await http.session(keys.acme)
  const client = new Client({ name: 'test', version: '1' })
  const env = { PATH: process.env['PATH'] ?? '', TOOLYARD_URL: api.address, TOOLYARD_API_KEY: keys.acme }
  t.teardown(() => client.close())
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [resolve('apps/cli/bin/toolyard.js'), 'mcp', '--session', id], env, stderr: 'ignore' }))
  t.equal(textAt(await client.callTool({ name: 'put', arguments: {} })), 'written')
  t.ok(existsSync(join(dir, 'sessions', id, 'note.txt')))
})

t.test('where every call must name a session, the error of one without says how, and lists have only what needs no session', async t => {
  const { address } = await startApi({ SESSIONS: 'require' })
  const at = async (method: string, params: Record<string, unknown>): Promise<RpcAnswer> => (
    await rpc(address, method, params, { key: keys.acme })
  )
  const told = { error: { code: -32_602, message: /SESSIONS=require.*\/v1\/sessions.*\?session=/, data: { code: 'VALIDATION_ERROR' } } }
  t.match((await at('tools/call', { name: 'note' })).body, told)
  t.match((await at('resources/read', { uri: 'workspace:///README.md' })).body, told)
  t.match((await at('resources/list', {})).body, { result: { resources: [{ uri: 'note:mine' }] } })
  t.match((await at('tools/list', {})).body, { result: { tools: Array } })
})
