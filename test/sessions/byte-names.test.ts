import { execFileSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { CallResult, FileList, SessionView } from '@toolyard/contract'
import { waitFor } from '../support/condition.ts'
import { injectService } from '../support/injected.ts'
import { testKeys } from '../support/service.ts'

/* Names that are no text, as tools may give them to files and directories of their session. */

const sessionsDir = mkdtempSync(join(tmpdir(), 'toolyard-sessions-'))
// Before the service ends: the names are none that Node removes.
t.teardown(() => { execFileSync('rm', ['-rf', sessionsDir]) })
const service = await injectService(t, {
  env: { SESSIONS_DIR: sessionsDir, WORKSPACE_DELETE_ENABLED: '1' },
  files: {
    'tools/bin/shell': '#!/bin/sh\nread -r line\neval "$(printf %s "$line" | sed -e \'s/^{"script":"//\' -e \'s/"}$//\')"\n',
    'tools/bin/odd': '#!/bin/sh\nf=$(printf \'\\377\')\nmkdir -p "a/$f/b/$f"; touch "$f$f" "a/$f/$(printf \'\\355\\240\\200\')"; ln -s x "l$f"\n'
  },
  tools: [{ name: 'odd', schema: { type: 'object' }, command: ['./tools/bin/odd'] }, { name: 'shell', schema: { type: 'object' }, command: ['./tools/bin/shell'] }, { name: 'reads', schema: { type: 'object', properties: { file: { type: 'string', format: 'session-file' } } }, command: ['./tools/bin/shell'] }]
})
const { client, app } = service
const url = await app.listen({ port: 0, host: '127.0.0.1' })

const ask = async (method: string, path: string, body?: Uint8Array): Promise<Response> => {
  return await fetch(`${url}/v1/sessions/${path}`, { method, headers: { 'x-api-key': testKeys.admin }, ...body !== undefined && { body } })
}
const names = async (id: string, path = ''): Promise<string[]> => (await (await ask('GET', `${id}/files${path}`)).json() as FileList).entries.map(({ name }) => name)
async function call (session: string, name: string, args: object): Promise<CallResult> {
  return await client.call(name, args, { wait_ms: 60_000, session })
}
const segment = (name: string): string => encodeURIComponent(name)
/** A path in a session with bytes in it, where `~` stands for one that is no UTF-8. */
const bytesAt = (id: string, path: string): Buffer => Buffer.from(join(sessionsDir, id, path).replaceAll('~', '\xff'), 'latin1')
const isEmpty = (): boolean => readdirSync(sessionsDir).every(name => name.startsWith('.')) && (!existsSync(join(sessionsDir, '.trash')) || readdirSync(join(sessionsDir, '.trash')).length === 0)

t.test('a session whose files have names that are no UTF-8 is removed with all of them', async t => {
  const id = await client.session()
  const made = await call(id, 'odd', {})
  t.same((made.files ?? []).map(({ path }) => path), ['\\xFF\\xFF', 'a/\\xFF/\\xED\\xA0\\x80'])
  await ask('DELETE', id)
  await waitFor('nothing of it', isEmpty)
  t.pass()
})

t.test('a listing shows each name, no two of them alike, and each can be read and removed by what is shown', async t => {
  const id = await client.session()
  t.equal((await call(id, 'shell', { script: 'true' })).ok, true)
  mkdirSync(bytesAt(id, 'd~'))
  for (const path of ['a~b', 'd~/x~', 'd~/ü']) writeFileSync(bytesAt(id, path), path)
  writeFileSync(join(sessionsDir, id, 'a\\xFFb'), 'a text')
  writeFileSync(join(sessionsDir, id, 'a\ufffdb'), 'a replacement')
  const shown = await names(id)
  t.same(shown, ['a\\x5CxFFb', 'a\\xFFb', 'a\ufffdb', 'd\\xFF'])
  const contents = await Promise.all(shown.slice(0, 3).map(async name => await (await ask('GET', `${id}/files/${segment(name)}`)).text()))
  t.same(contents, ['a text', 'a~b', 'a replacement'])
  t.same(await names(id, '/d%5CxFF'), ['\\xFC', 'x\\xFF'])
  t.equal((await ask('DELETE', `${id}/files/d%5CxFF/x%5CxFF`)).status, 204)
  t.equal((await ask('DELETE', `${id}/files/d%5CxFF?recursive=true`)).status, 204)
  for (const name of shown.slice(0, 3)) t.equal((await ask('DELETE', `${id}/files/${segment(name)}`)).status, 204, name)
  t.same(readdirSync(join(sessionsDir, id)), [])
})

t.test('built-in tools list, find, read, move and delete them', async t => {
  const id = await client.session()
  t.equal((await call(id, 'shell', { script: 'true' })).ok, true)
  mkdirSync(bytesAt(id, 'd~'))
  writeFileSync(bytesAt(id, 'd~/needle~'), 'a needle')
  t.match(await call(id, 'workspace_list', { path: 'd\\xFF' }), { output: { entries: [{ path: 'd\\xFF/needle\\xFF' }] } })
  t.match(await call(id, 'tools_file_search', { query: 'needle' }), { output: { results: [{ path: 'd\\xFF/needle\\xFF' }] } })
  t.match(await call(id, 'tools_find_in_files', { query: 'needle' }), { output: { matches: [{ path: 'd\\xFF/needle\\xFF' }] } })
  t.match(await call(id, 'data_file_read', { path: 'd\\xFF/needle\\xFF' }), { ok: true })
  t.match(await call(id, 'reads', { file: 'd\\xFF/needle\\xFF' }), { error: { code: 'INVALID_ARGUMENTS', message: /not UTF-8/ } })
  t.match(await call(id, 'workspace_move', { from: 'd\\xFF/needle\\xFF', to: 'found' }), { ok: true })
  t.match(await call(id, 'workspace_move', { from: 'found', to: 'lost\\xFF' }), { error: { message: 'the name "lost\\\\xFF" is not valid Unicode' } })
  writeFileSync(bytesAt(id, 'd~/~'), '')
  t.match(await call(id, 'workspace_delete', { path: 'd\\xFF', recursive: true }), { output: { deleted_count: 2 } })
  t.same(readdirSync(join(sessionsDir, id)), ['found'])
})

t.test('an archive has their bytes, and takes them back', async t => {
  const [from, to] = [await client.session(), await client.session()]
  for (const id of [from, to]) t.equal((await call(id, 'shell', { script: 'true' })).ok, true)
  const long = `${'~'.repeat(120)}`
  mkdirSync(bytesAt(from, 'd~'))
  for (const path of ['a~b', 'd~/c', `d~/${long}`]) writeFileSync(bytesAt(from, path), path)
  writeFileSync(join(sessionsDir, from, 'a\\xFFb'), 'a text')
  const archive = new Uint8Array(await (await ask('GET', `${from}/files?archive=tar`)).arrayBuffer())
  t.match(await (await ask('PUT', `${to}/files?archive=tar`, archive)).json(), { archive: { files: 4, directories: 1 } })
  for (const path of ['a~b', 'd~/c', `d~/${long}`]) t.equal(readFileSync(bytesAt(to, path), 'latin1'), path)
  t.equal(readFileSync(join(sessionsDir, to, 'a\\xFFb'), 'latin1'), 'a text')
  const aside = mkdtempSync(join(tmpdir(), 'toolyard-tar-'))
  t.teardown(() => { execFileSync('rm', ['-rf', aside]) })
  execFileSync('tar', ['-C', aside, '-xf', '-'], { input: archive })
  t.ok(existsSync(Buffer.from(join(aside, 'd\xff', long.replaceAll('~', '\xff')), 'latin1')), 'for others as well')
})

t.test('a link through such a name leads where it leads', async t => {
  const id = await client.session()
  t.equal((await call(id, 'shell', { script: 'true' })).ok, true)
  mkdirSync(bytesAt(id, 'd~'))
  writeFileSync(bytesAt(id, 'd~/file'), 'there')
  symlinkSync(Buffer.from('d\xff/file', 'latin1'), join(sessionsDir, id, 'link'))
  linkSync(bytesAt(id, 'd~/file'), bytesAt(id, 'second~'))
  t.equal(await (await ask('GET', `${id}/files/link`)).text(), 'there')
})

t.test('no upload makes one', async t => {
  const id = await client.session()
  for (const name of ['a%5CxFF', 'a%5CxFF%5Cx80', '%5CxC3%28']) {
    const answer = await ask('PUT', `${id}/files/${name}`, Buffer.from('x'))
    t.match([answer.status, await answer.json()], [400, { error: { message: /is not valid Unicode$/ } }], name)
  }
})

t.test('a template may have them', async t => {
  const templates = mkdtempSync(join(tmpdir(), 'toolyard-templates-'))
  t.teardown(() => { execFileSync('rm', ['-rf', templates]) })
  mkdirSync(Buffer.from(join(templates, 'begun/d\xff'), 'latin1'), { recursive: true })
  writeFileSync(Buffer.from(join(templates, 'begun/d\xff/f\xfe'), 'latin1'), 'x')
  const other = await injectService(t, { workers: 0, env: { SESSIONS_DIR: sessionsDir, SESSION_TEMPLATES_DIR: templates } })
  const { body: { session: { id } } } = await other.client.request<{ session: SessionView }>('/v1/sessions', { body: { from: 'begun' } })
  t.match((await other.client.request<FileList>(`/v1/sessions/${id}/files/d%5CxFF`)).body.entries, [{ path: 'd\\xFF/f\\xFE' }])
})
