import t from 'tap'
import type { CallResult } from '@toolyard/contract'
import { hasPython } from '../support/python.ts'
import { bundleOf, createService, makeKeys, testKeys } from '../support/service.ts'

t.setTimeout(180_000)

const { keys, API_KEYS_JSON } = makeKeys({ admin: { name: 'operator' }, acme: { tenant: 'acme' } })
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
/** Files where a schema can have them beside `properties` and lists, also as deep as the arguments are. */
const elsewhere = {
  type: 'object',
  properties: { file, child: { $ref: '#' }, twice: { $ref: '#/$defs/twice' }, kind: { type: 'string' }, tuple: { type: 'array', contains: file } },
  patternProperties: { '^f_': file },
  if: { properties: { kind: { const: 'image' } }, required: ['kind'] },
  then: { properties: { picture: file } },
  $defs: { twice: { type: ['array', 'string'], anyOf: [{ items: { $ref: '#/$defs/twice' } }, { items: { $ref: '#/$defs/twice' } }] } }
}
const service = await createService(t, {
  files: {
    'tools/bin/shell': shell,
    'workspace/of-workspace': 'shared',
    'bundle/read.py': python,
    'bundle/manifest.json': bundleOf({ name: 'py_read', description: 'Reads a file', module: 'read', inputs: { file }, permissions: ['read_repo'] })
  },
  tools: [
    { name: 'shell', schema: { type: 'object' }, command: ['./tools/bin/shell'] },
    { name: 'told', schema: nested, command: ['/bin/cat'], permissions: ['read_repo'] },
    { name: 'elsewhere', schema: elsewhere, command: ['/bin/cat'], permissions: ['read_repo'] }
  ],
  manifests: ['tools.json', 'bundle/manifest.json'],
  env: { API_KEYS_JSON }
})
const { client } = service

async function call (session: string | undefined, name: string, args: object, key = keys.acme): Promise<CallResult> {
  return await client.call(name, args, { wait_ms: 60_000, session }, key)
}

t.test('a tool gets the paths of existing files, at any depth of its arguments', { skip: !hasPython }, async t => {
  const id = await client.session(keys.acme)
  await call(id, 'shell', { script: 'mkdir in; printf data > in/x; ln -s in/x link' })
  const args = { file: 'link', list: [{}, { 'a/b': './in/../in/x' }], any: 'in/x', other: '../any text' }
  t.same((await call(id, 'told', args)).output, { file: 'in/x', list: [{}, { 'a/b': 'in/x' }], any: 'in/x', other: '../any text' })
  t.match(await call(id, 'py_read', { file: 'link' }), { ok: true, output: 'data' })
})

t.test('what stands beside a file is kept as it was written', async t => {
  const id = await client.session(keys.acme)
  await call(id, 'shell', { script: 'mkdir in; printf data > in/x' })
  const args = '{"9":1.0,"2":725653563933458432,"tuple":[1.0,"./in/x",725653563933458432],"file":"./in/x"}'
  const body = `{"calls":[{"call_id":"c","name":"elsewhere","arguments":${args}}],"session":"${id}","wait_ms":60000}`
  const headers = { 'content-type': 'application/json' }
  const { text } = await client.request('/v1/agent-tools/invoke-batch', { method: 'POST', body, key: keys.acme, headers })
  t.ok(text.includes(`"output":${args.replaceAll('./', '')}`), text)
})

t.test('an argument that names no file of the session is refused with its place', async t => {
  const [id, other] = [await client.session(keys.acme), await client.session(testKeys.admin)]
  await call(other, 'shell', { script: 'echo secret > secret' }, testKeys.admin)
  await call(id, 'shell', { script: 'mkdir dir; ln -s /etc/passwd out; mkfifo pipe; ln -s loop loop' })
  const paths = ['missing', 'dir', 'out', 'pipe', 'loop', '..', `../${other}/secret`, '/etc/passwd', 'of-workspace', 'n'.repeat(300), 'a\nb', 'a\0b', '']
  for (const path of paths) {
    const { ok, error } = await call(id, 'told', { list: [{ 'a/b': path }] })
    t.match([ok, error], [false, { code: 'INVALID_ARGUMENTS', details: { issues: [{ path: '/list/0/a~1b', message: /can't be used/ }] } }], path.slice(0, 40))
    t.ok(error?.message.includes(JSON.stringify(path).slice(0, 100)), 'it is named')
  }
})

t.test('no place in a schema, and no depth of the arguments, lets a path by', async t => {
  const id = await client.session(keys.acme)
  await call(id, 'shell', { script: 'mkdir in; printf data > in/x; ln -s in/x link' })
  const within = (levels: number, file: string): object => levels === 0 ? { file } : { child: within(levels - 1, file) }
  const places: Array<(file: string) => object> = [
    file => within(1, file), file => within(50, file), file => ({ f_any: file }), file => ({ kind: 'image', picture: file }), file => ({ tuple: [file] })
  ]
  for (const place of places) {
    t.same((await call(id, 'elsewhere', place('link'))).output, place('in/x'))
    t.match(await call(id, 'elsewhere', place('../secret')), { ok: false, error: { code: 'INVALID_ARGUMENTS', message: /escapes workspace root/ } })
  }
  t.match(await call(id, 'elsewhere', { other: '../any text', [`f_${'n'.repeat(200)}`]: 'link' }), { ok: true })
})

t.test('arguments that a schema leads to in very many ways are looked through at once', async t => {
  const nested = Array.from({ length: 40 }).reduce<unknown>(inner => [inner], 'text')
  t.match(await call(await client.session(keys.acme), 'elsewhere', { twice: nested }), { ok: true })
})

t.test('without a session, files are those of the shared workspace, for the operator alone', { skip: !hasPython }, async t => {
  t.match(await call(undefined, 'py_read', { file: 'of-workspace' }, testKeys.admin), { ok: true, output: 'shared' })
  t.match(await call(undefined, 'py_read', { file: 'of-workspace' }), { ok: false, error: { code: 'INVALID_ARGUMENTS', message: /the call names none/ } })
})
