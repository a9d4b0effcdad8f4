import t from 'tap'
import { createService, makeKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({ careful: { permissions: ['read_repo'] } })

const service = await createService(t, {
  files: { 'tools/bin/touch.sh': '#!/bin/sh\necho 1 > touched && echo \'"written"\'\n' },
  tools: [
    { name: 'plain', description: 'Says nothing of permissions', command: ['./tools/bin/touch.sh'] },
    { name: 'writer', description: 'Writes', command: ['./tools/bin/touch.sh'], permissions: ['write_files'] },
    { name: 'networker', description: 'Needs the network', command: ['./tools/bin/touch.sh'], permissions: ['network'] }
  ],
  env: {
    TOOL_DEFAULT_PERMISSIONS: 'read_repo',
    PERMISSIONS_ALLOWED: 'read_repo,write_files',
    API_KEYS_JSON
  }
})
const { client } = service

const listed = async (key: string): Promise<string[]> => {
  const { body } = await client.request<{ tools: Array<{ function: { name: string } }> }>('/v1/agent-tools', { key })
  return body.tools.map(tool => tool.function.name).filter(name => ['plain', 'writer', 'networker'].includes(name))
}

const called = async (name: string, key: string): Promise<unknown> => {
  const { results: [result] } = await client.batch([{ call_id: 'c', name }], {}, key)
  return result
}

void t.test('P18 a tool beyond what the deployment allows is not listed and is FORBIDDEN', async t => {
  t.strictSame(await listed(keys.admin), ['plain', 'writer'])
  t.match(await called('networker', keys.admin), { ok: false, error: { code: 'FORBIDDEN', message: /network/ } })
})

void t.test('P18 a key may be allowed less than the deployment', async t => {
  t.strictSame(await listed(keys.careful), ['plain'])
  t.match(await called('writer', keys.careful), { ok: false, error: { code: 'FORBIDDEN', message: /write_files/ } })
  t.match(await called('writer', keys.admin), { ok: true, output: 'written' })
})

void t.test('P18 a single job needs the permission as well', async t => {
  const job = { type: 'agentcli.writer', input: {} }
  t.match(await client.request('/v1/jobs', { key: keys.careful, body: job }), { status: 403, body: { error: { code: 'FORBIDDEN' } } })
})

void t.test('P18 a tool that names no permissions may not write', async t => {
  const result = await called('plain', keys.admin)
  const log = await service.workers[0]?.output() ?? ''
  if (!log.includes('the sandbox is whole')) return t.comment('no whole sandbox on this machine')
  t.match(result, { ok: false, error: { code: 'TOOL_FAILED', message: /[Rr]ead-only/ } })
})
