import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { CallResult, JobView, SessionView } from '@toolyard/contract'
import { submit } from '../jobs/submission.ts'
import { waitFor } from '../support/condition.ts'
import { hasPython } from '../support/python.ts'
import { bundleOf, createService, makeKeys, testKeys } from '../support/service.ts'

t.setTimeout(180_000)

const { keys, API_KEYS_JSON } = makeKeys({ admin: { name: 'operator' }, acme: { tenant: 'acme' }, other: { tenant: 'other' } })
const shell = '#!/bin/sh\nread -r line\neval "$(printf %s "$line" | sed -e \'s/^{"script":"//\' -e \'s/"}$//\')"\n'
const python = `import os
from toolyard import Tool

class Files(Tool):
    def execute(self, write=None):
        if write is not None:
            open(write, "w").write("by python")
        return sorted(os.listdir("."))
`
const service = await createService(t, {
  files: {
    'tools/bin/shell': shell,
    'workspace/of-workspace': 'shared',
    'templates/begun/sub/file': 'from the template',
    'bundle/files.py': python,
    'bundle/manifest.json': bundleOf({ name: 'py_files', description: 'Lists files', module: 'files', inputs: { write: { type: 'string' } }, permissions: ['read_repo', 'write_files'] })
  },
  tools: [
    { name: 'shell', schema: { type: 'object' }, command: ['./tools/bin/shell'], timeoutSec: 60 },
    { name: 'look', schema: { type: 'object' }, command: ['./tools/bin/shell'], permissions: ['read_repo'] }
  ],
  manifests: ['tools.json', 'bundle/manifest.json'],
  env: {
    SESSION_TEMPLATES_DIR: 'templates',
    TOOL_EXEC_ENABLED: '1',
    TOOL_EXEC_ALLOWLIST: 'ls',
    WORKSPACE_DELETE_ENABLED: '1',
    API_KEYS_JSON
  }
})
const { client } = service
const sessionsDir = join(service.dir, 'sessions')

const make = async (body?: object): Promise<string> => await client.session(keys.acme, body)
const find = async (id: string): Promise<number> => (await client.request(`/v1/sessions/${id}`)).status
const remove = async (id: string): Promise<number> => (await client.request(`/v1/sessions/${id}`, { method: 'DELETE' })).status

async function call (session: string | undefined, name: string, args: object = {}, key: string = keys.acme): Promise<CallResult> {
  return await client.call(name, args, { wait_ms: 60_000, session }, key)
}
const run = async (session: string | undefined, script: string, key?: string): Promise<CallResult> => await call(session, 'shell', { script }, key)

t.test('every kind of tool works in the files of its session, and sees none of another session', { skip: !hasPython }, async t => {
  const [one, two] = [await make(), await make()]
  t.match(await run(one, 'echo one > a; ls; pwd'), { ok: true, output: `a\n${join(service.dir, 'workspace')}` })
  t.match(await call(one, 'data_file_read', { path: 'a' }), { ok: true, output: { content_text: 'one\n' } })
  t.match(await call(one, 'data_write_file', { path: 'b', content: 'two', create_if_missing: true }), { ok: true })
  t.same((await call(one, 'py_files', { write: 'c' })).output, ['a', 'b', 'c'])
  t.match(await call(one, 'tool_exec', { command: 'ls' }), { ok: true, output: { stdout: 'a\nb\nc\n' } })
  t.match(await call(one, 'look', { script: 'ls; touch d' }), { ok: false, error: { message: /Read-only/ } })
  t.same((await call(two, 'py_files')).output, [])
  t.match(await run(two, 'ls'), { ok: true, output: {} })
  t.match(await run(undefined, 'ls'), { output: /of-workspace/ })
  t.same(readdirSync(join(sessionsDir, one)).sort(), ['a', 'b', 'c'])
  const operator = await run(one, 'cat c', testKeys.admin)
  t.match(operator, { ok: true, output: 'by python' }, 'the operator may work in all')
})

t.test('a session may begin as a copy of a template, also when several calls arrive first at once', async t => {
  const id = await make({ from: 'begun' })
  const results = await Promise.all(Array.from({ length: 6 }, async () => await run(id, 'cat sub/file')))
  t.same(results.map(({ output }) => output), Array.from({ length: 6 }, () => 'from the template'))
  await run(id, 'echo changed > sub/file')
  t.equal(readFileSync(join(service.dir, 'templates/begun/sub/file'), 'utf8'), 'from the template')
  t.same(readdirSync(join(sessionsDir, '.making')), [])
})

t.test('a session that a key may not see gives the same answer as a missing one', async t => {
  const id = await make()
  for (const session of [id, '01a00000-0000-7000-8000-000000000000']) {
    const bodies: Array<[string, object]> = [
      ['/v1/agent-tools/invoke-batch', { calls: [{ call_id: 'c', name: 'shell' }], session }],
      ['/v1/jobs', { type: 'agentcli.shell', session }],
      [`/v1/tools/shell?session=${session}`, {}]
    ]
    for (const [path, body] of bodies) {
      const answer = await client.request(path, { body, key: keys.other })
      t.match([answer.status, answer.body], [404, { error: { code: 'NOT_FOUND', message: 'Session not found' } }], path)
    }
  }
  for (const session of ['..', 'x', `${id}/..`, 7]) {
    t.equal((await client.request('/v1/jobs', { body: { type: 'agentcli.shell', session } })).status, 400)
  }
})

t.test('a job names its session, and an Idempotency-Key in another session is another request', async t => {
  const [one, two] = [await make(), await make()]
  const job = await submit(client, { type: 'agentcli.shell', input: { script: 'echo x > made' }, session: one }, { key: keys.acme })
  t.match(job, { session: one })
  const send = async (session: string): Promise<number> => (await client.request('/v1/jobs', {
    body: { type: 'agentcli.shell', session }, key: keys.acme, headers: { 'idempotency-key': 'one' }
  })).status
  t.same([await send(one), await send(one), await send(two)], [201, 200, 409])
})

t.test('a call that exceeds the quota fails; its files stay and can be deleted', async t => {
  const id = await make({ quota_bytes: 1_000_000 })
  const over = await run(id, 'head -c 2000000 /dev/zero > large')
  t.match(over, { ok: false, error: { code: 'QUOTA_EXCEEDED', message: /1000000 bytes/, details: { quota_bytes: 1_000_000 } } })
  t.match(await run(id, 'echo never > more'), { ok: false, error: { code: 'QUOTA_EXCEEDED' } })
  t.match(await call(id, 'data_write_file', { path: 'b', content: 'two', create_if_missing: true }), { error: { code: 'QUOTA_EXCEEDED' } })
  t.match(await call(id, 'look', { script: 'ls' }), { ok: true, output: 'large' }, 'reading goes on')
  t.match(await call(id, 'workspace_delete', { path: 'large' }), { ok: true })
  t.match(await run(id, 'echo again'), { ok: true })
  const seen = await waitFor('its usage is noted', async () => {
    const { body: { session: { used_bytes: used } } } = await client.request<{ session: SessionView }>(`/v1/sessions/${id}`)
    return used !== null && used < 1_000_000
  })
  t.ok(seen)
})

t.test('bytes written through mapped memory into holes of a file count, also in a session of many files', { skip: !hasPython }, async t => {
  const id = await make({ quota_bytes: 2_000_000 })
  const fill = 'import mmap\nfile = open("sparse", "r+b")\nmapped = mmap.mmap(file.fileno(), 0)\nfor at in range(0, len(mapped), 4096): mapped[at] = 1\n'
  t.match(await call(id, 'data_write_file', { path: 'fill.py', content: fill, create_if_missing: true }), { ok: true })
  t.match(await run(id, 'seq 1 150 | xargs touch; truncate -s 10000000 sparse'), { ok: true })
  for (let n = 0; n < 3; n++) t.match(await run(id, 'ls sparse'), { ok: true })
  t.match(await run(id, 'python3 fill.py'), { ok: false, error: { code: 'QUOTA_EXCEEDED' } })
})

t.test('a session that is removed ends its calls, and its files are gone with it', async t => {
  const id = await make()
  const running = run(id, 'mkdir -p x/y; echo 1 > x/y/z; chmod 000 x; touch begun; sleep 60')
  await waitFor('it runs', () => existsSync(join(sessionsDir, id, 'begun')))
  t.equal(await remove(id), 202)
  t.match(await running, { ok: false, error: { code: 'SESSION_GONE' } })
  const late = await client.request('/v1/jobs', { body: { type: 'agentcli.shell', session: id } })
  t.ok([404, 409].includes(late.status))
  await waitFor('it is gone', async () => await find(id) === 404)
  t.notOk(existsSync(join(sessionsDir, id)))
  await waitFor('its files are removed', () => readdirSync(join(sessionsDir, '.trash')).length === 0)
})

t.test('a call whose session was removed while it waited fails with that reason', async t => {
  const id = await make({ ttl_sec: 1 })
  const { id: job } = await submit(client, { type: 'agentcli.shell', input: { script: 'echo' }, session: id, delay_ms: 3_000 }, { key: keys.acme })
  const ended = await waitFor('it ended', async () => {
    const { body } = await client.request<{ job: JobView }>(`/v1/jobs/${job}`)
    return body.job.status === 'failed' ? body.job : undefined
  })
  t.match(ended.error, { code: 'SESSION_GONE' })
  await waitFor('it is gone', async () => await find(id) === 404)
})

t.test('a session with calls in it lives longer than its time', async t => {
  const id = await make({ ttl_sec: 1 })
  t.match(await run(id, 'sleep 3; echo still'), { ok: true, output: 'still' })
})
