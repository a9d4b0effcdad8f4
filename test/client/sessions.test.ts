import { Toolyard } from '@toolyard/client'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t from 'tap'
import { createService, testKeys } from '../support/service.ts'

const sessionsDir = mkdtempSync(join(tmpdir(), 'toolyard-sessions-'))
t.teardown(() => { rmSync(sessionsDir, { recursive: true }) })
const service = await createService(t, {
  env: { SESSIONS_DIR: sessionsDir },
  files: { 'tools/bin/upper': '#!/bin/sh\ncat > /dev/null; tr a-z A-Z < in.txt > out.txt; echo {}' },
  tools: [{ name: 'upper', schema: { type: 'object' }, command: ['./tools/bin/upper'], permissions: ['read_repo', 'write_files'] }]
})
const toolyard = new Toolyard({ url: service.api.address, apiKey: testKeys.admin })

t.test('a file goes into a session, is changed by a call there, and comes out', async t => {
  const { id, quota_bytes: quota } = await toolyard.sessions.make({ ttl_sec: 600, quota_bytes: 1_000_000 })
  t.equal(quota, 1_000_000)
  const files = toolyard.sessions.files(id)
  t.match(await files.put('in.txt', 'some text'), { path: 'in.txt', size: 9 })
  await toolyard.call('upper', {}, { session: id })
  t.equal(await (await files.get('out.txt')).text(), 'SOME TEXT')
  t.strictSame((await files.list()).entries.map(({ name }) => name), ['in.txt', 'out.txt'])
  const archive = await (await files.getArchive()).arrayBuffer()
  t.match(await files.putArchive('copy here', new Uint8Array(archive)), { path: 'copy here', files: 2, bytes: 18 })
  t.equal(await (await files.get('copy here/out.txt')).text(), 'SOME TEXT')
  await files.remove('in.txt')
  await t.rejects(files.remove('copy here'), { code: 'CONFLICT' })
  await files.remove('copy here', { recursive: true })
  await t.rejects(files.get('in.txt'), { code: 'NOT_FOUND', status: 404 })
  t.ok((await toolyard.sessions.list()).sessions.some(session => session.id === id))
  t.equal((await toolyard.sessions.get(id)).state, 'open')
  t.match(await toolyard.sessions.remove(id), { id, state: 'removing' })
})

t.test('no id and no path leads a request to another route than that of its method', async t => {
  const asked: string[] = []
  const watched = new Toolyard({ url: service.api.address, apiKey: testKeys.admin, fetch: async request => { asked.push(String(request instanceof Request ? request.url : request)); return new Response('{}') } })
  const code = { code: 'VALIDATION_ERROR' }
  for (const id of ['..', '.', '', '\ud800']) {
    t.throws(() => watched.sessions.files(id), code, id)
    await t.rejects(watched.sessions.get(id), code, id)
    await t.rejects(watched.sessions.remove(id), code, id)
    await t.rejects(watched.jobs.get(id), code, id)
    await t.rejects(watched.jobs.cancel(id), code, id)
    await t.rejects(watched.follow(id).next(), code, id)
  }
  for (const path of ['..', 'a/../../x', './a', 'a/.']) await t.rejects(watched.files.remove(path), code, path)
  t.same(asked, [])
  for (const id of ['%2e%2e', '../x', 'a/b', 'a?b#c']) await watched.sessions.get(id).catch(() => {})
  t.same(asked.map(address => new URL(address).pathname.split('/').length), [4, 4, 4, 4], 'anything else is one name')
})

t.test('arguments of a wrong type are refused in words, and nothing is sent for them', async t => {
  const asked: unknown[] = []
  // As programs without types call it.
  const untyped = new Toolyard({ url: service.api.address, fetch: async request => { asked.push(request); return new Response('{}') } }) as unknown as { files: Record<'put' | 'putArchive' | 'get', (...given: unknown[]) => Promise<unknown>>, jobs: { get: (id?: unknown) => Promise<unknown> } }
  for (const content of [5, null, undefined, {}, ['x'], true]) {
    for (const way of ['put', 'putArchive'] as const) await t.rejects(untyped.files[way]('a', content), new TypeError('The content of a file is a string, bytes, a Blob or a ReadableStream'))
  }
  await t.rejects(untyped.files.get(5), new TypeError('The path of a file is a string, not number'))
  for (const id of [undefined, null, 5]) await t.rejects(untyped.jobs.get(id), { name: 'TypeError', message: /^A name or an id in an address is a string, not / })
  t.same(asked, [])
  for (const content of [Buffer.from('x'), new Uint8Array([120]).buffer, new Blob(['x']), new Response('x').body, Readable.from(['x'])]) await untyped.files.put('a', content).catch(() => {})
  t.equal(asked.length, 5)
})

t.test('an operator reaches the files of the shared workspace', async t => {
  await toolyard.files.put('a/b #1?.txt', new TextEncoder().encode('x'))
  t.equal(await (await toolyard.files.get('a/b #1?.txt')).text(), 'x')
  t.strictSame((await toolyard.files.list('a')).entries.map(({ path }) => path), ['a/b #1?.txt'])
})

t.test('no path of a file leads to anything else of the service', async t => {
  const { id } = await toolyard.sessions.make()
  const files = toolyard.sessions.files(id)
  await files.put('kept', 'x')
  for (const path of ['..', '.', 'a/../..', '../../keys', './kept']) {
    await t.rejects(files.remove(path), { code: 'VALIDATION_ERROR', message: /'\.{1,2}'/ }, path)
    await t.rejects(files.put(path, 'y'), { code: 'VALIDATION_ERROR' }, path)
    await t.rejects(files.get(path), { code: 'VALIDATION_ERROR' }, path)
  }
  await t.rejects(files.put('new/', 'y'), { code: 'VALIDATION_ERROR', message: /^The path 'new\/' ends with a slash/ })
  t.match(await files.list('/'), { count: 1 })
  t.equal(await (await files.get('kept')).text(), 'x', 'the session is still there')
})
