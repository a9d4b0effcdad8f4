import t from 'tap'
import type { CallResult, InvokeBatchResponse, SessionView } from '@toolyard/contract'
import { hasPython } from '../support/python.ts'
import { createService, testKeys } from '../support/service.ts'

t.setTimeout(180_000)

const tenant = 'key-of-acme-0123456789'
const file = { type: 'string', format: 'session-file' }
const shell = '#!/bin/sh\nread -r line\neval "$(printf %s "$line" | sed -e \'s/^{"script":"//\' -e \'s/"}$//\')"\n'
const python = `from toolyard import Tool

class Read(Tool):
    def execute(self, file):
        return open(file).read()
`
const nested = {
  type: 'object',
  properties: { file, list: { type: 'array', items: { type: 'object', properties: { 'a/b': { $ref: '#/$defs/file' } } } }, any: { anyOf: [{ type: 'null' }, file] } },
  additionalProperties: { type: 'string' },
  $defs: { file }
}
const service = await createService(t, {
  files: {
    'tools/bin/shell': shell,
    'workspace/of-workspace': 'shared',
    'bundle/read.py': python,
    'bundle/manifest.json': JSON.stringify({
      schema_version: '1.0',
      metadata: { name: 'test', description: 'A bundle of a test' },
      tools: [{ name: 'py_read', description: 'Reads a file', module: 'read', inputs: { file }, permissions: ['read_repo'] }]
    })
  },
  tools: [
    { name: 'shell', schema: { type: 'object' }, command: ['./tools/bin/shell'] },
    { name: 'told', schema: nested, command: ['/bin/cat'], permissions: ['read_repo'] }
  ],
  manifests: ['tools.json', 'bundle/manifest.json'],
  env: {
    API_KEYS_JSON: JSON.stringify([
      { name: 'operator', key: testKeys.admin, role: 'admin' }, { name: 'acme', key: tenant, role: 'admin', tenant: 'acme' }
    ])
  }
})
const { client } = service
const make = async (key: string): Promise<string> => (await client.request<{ session: SessionView }>('/v1/sessions', { body: {}, key })).body.session.id

async function call (session: string | undefined, name: string, args: object, key = tenant): Promise<CallResult> {
  const body = { calls: [{ call_id: 'c', name, arguments: args }], wait_ms: 60_000, ...(session === undefined ? {} : { session }) }
  const { body: { results: [result] } } = await client.request<InvokeBatchResponse>('/v1/agent-tools/invoke-batch', { body, key })
  if (result === undefined) throw new Error('no result')
  return result
}

t.test('a tool gets the paths of existing files, at any depth of its arguments', { skip: !hasPython }, async t => {
  const id = await make(tenant)
  await call(id, 'shell', { script: 'mkdir in; printf data > in/x; ln -s in/x link' })
  const args = { file: 'link', list: [{}, { 'a/b': './in/../in/x' }], any: 'in/x', other: '../any text' }
  t.same((await call(id, 'told', args)).output, { file: 'in/x', list: [{}, { 'a/b': 'in/x' }], any: 'in/x', other: '../any text' })
  t.match(await call(id, 'py_read', { file: 'link' }), { ok: true, output: 'data' })
})

t.test('an argument that names no file of the session is refused with its place', async t => {
  const [id, other] = [await make(tenant), await make(testKeys.admin)]
  await call(other, 'shell', { script: 'echo secret > secret' }, testKeys.admin)
  await call(id, 'shell', { script: 'mkdir dir; ln -s /etc/passwd out; mkfifo pipe; ln -s loop loop' })
  const paths = ['missing', 'dir', 'out', 'pipe', 'loop', '..', `../${other}/secret`, '/etc/passwd', 'of-workspace', 'n'.repeat(300), 'a\nb', 'a\0b', '']
  for (const path of paths) {
    const { ok, error } = await call(id, 'told', { list: [{ 'a/b': path }] })
    t.match([ok, error], [false, { code: 'INVALID_ARGUMENTS', details: { issues: [{ path: '/list/0/a~1b', message: /can't be used/ }] } }], path.slice(0, 40))
    t.ok(error?.message.includes(JSON.stringify(path).slice(0, 100)), 'it is named')
  }
})

t.test('without a session, files are those of the shared workspace, for the operator alone', { skip: !hasPython }, async t => {
  t.match(await call(undefined, 'py_read', { file: 'of-workspace' }, testKeys.admin), { ok: true, output: 'shared' })
  t.match(await call(undefined, 'py_read', { file: 'of-workspace' }), { ok: false, error: { code: 'INVALID_ARGUMENTS', message: /the call names none/ } })
})
