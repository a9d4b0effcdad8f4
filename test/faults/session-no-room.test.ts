import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { CallResult } from '@toolyard/contract'
import { archiveOf } from '../archives/archive-parts.ts'
import { createService, testKeys } from '../support/service.ts'

t.setTimeout(120_000)

const base = mkdtempSync(join(tmpdir(), 'toolyard-no-room-'))
t.teardown(() => { rmSync(base, { recursive: true }) })
const [sessionsDir, noRoom] = [join(base, 'sessions'), join(base, 'no-room')]
const service = await createService(t, {
  env: {
    SESSIONS_DIR: sessionsDir,
    NODE_OPTIONS: `--import=${new URL('./no-room.js', import.meta.url).href}`,
    NO_ROOM_FILE: noRoom,
    NO_ROOM_BELOW: sessionsDir
  },
  files: { 'tools/bin/print': "#!/bin/sh\ncat > /dev/null\nprintf '\\377\\376'\n" },
  tools: [{ name: 'print', schema: { type: 'object' }, command: ['./tools/bin/print'] }]
})
const { client } = service

const treeOf = (id: string): string[] => readdirSync(join(sessionsDir, id), { recursive: true, encoding: 'utf8' }).sort()

interface Answer { status: number, code: string, message: string }

async function put (id: string, path: string, body: string | Uint8Array<ArrayBuffer>): Promise<Answer> {
  const headers = { 'x-api-key': testKeys.admin }
  const answer = await fetch(`${service.api.address}/v1/sessions/${id}/files${path}`, { method: 'PUT', body, headers })
  const { error } = await answer.json() as { error?: { code: string, message: string } }
  return { status: answer.status, code: error?.code ?? '', message: error?.message ?? '' }
}

async function call (session: string, name: string, args: object = {}): Promise<CallResult> {
  return await client.call(name, args, { wait_ms: 60_000, session })
}

/** Without room, as the file system says it. */
async function without (code: string, at: string, work: () => Promise<void>): Promise<void> {
  writeFileSync(noRoom, JSON.stringify({ code, at }))
  try {
    await work()
  } finally {
    rmSync(noRoom)
  }
}

for (const [code, http, called] of [
  ['EDQUOT', { status: 413, code: 'QUOTA_EXCEEDED', message: /The quota of the file system is used up \(EDQUOT\)/ }, { code: 'QUOTA_EXCEEDED', message: /the quota of the file system is used up \(EDQUOT\)/ }],
  ['ENOSPC', { status: 507, code: 'STORAGE_FULL', message: /The disk of the files is full/ }, { code: 'TOOL_FAILED', message: /the disk of the files is full \(ENOSPC\)/ }]
] as const) {
  void t.test(`${code}: uploads say what has no room, and leave nothing half written`, async t => {
    const id = await client.session()
    t.match(await put(id, '/kept', 'whole'), { status: 201 })
    await without(code, 'write', async () => {
      t.match(await put(id, '/more', 'x'), http)
      t.match(await put(id, '/kept', 'other'), http, 'nor does one take the place of another')
      t.match(await put(id, '/a/b/c', 'x'), http)
      t.match(await put(id, '?archive=tar', new Uint8Array(archiveOf([{ name: 'd/e', content: Buffer.from('x') }]))), { ...http, message: /^The entry "d\/e": .* Nothing was unpacked$/ })
    })
    await without(code, 'deep', async () => {
      t.match(await put(id, '/a/b/deep/c', 'x'), http)
      t.match(await put(id, '?archive=tar', new Uint8Array(archiveOf([{ name: 'a/deep/', type: '5' }]))), { ...http, message: /^The entry "a\/deep\/": / })
    })
    t.same(treeOf(id), ['kept'])
    t.equal(readFileSync(join(sessionsDir, id, 'kept'), 'utf8'), 'whole')
    t.match(await put(id, '/a/b/deep/c', 'x'), { status: 201 }, 'with room it goes on')
  })

  void t.test(`${code}: calls say what has no room, and leave nothing half written`, async t => {
    const id = await client.session()
    const write = async (path: string): Promise<CallResult> => await call(id, 'data_write_file', { path, content: 'x', create_if_missing: true, mkdir_p: true })
    t.match(await write('kept'), { ok: true })
    await without(code, 'write', async () => {
      t.match(await write('a/b/c'), { ok: false, error: called })
      t.match(await call(id, 'data_write_file', { path: 'kept', content: 'other' }), { ok: false, error: called })
      t.match(await call(id, 'print'), { ok: false, error: { ...called, message: /^the output can't be stored as the file stdout.bin: the .* \(E[A-Z]+\)$/ } })
    })
    await without(code, 'deep', async () => { t.match(await write('a/b/deep/c'), { ok: false, error: called }) })
    t.same(treeOf(id), ['kept'])
    t.equal(readFileSync(join(sessionsDir, id, 'kept'), 'utf8'), 'x')
    t.match(await call(id, 'print'), { ok: true }, 'with room it goes on')
  })

  void t.test(`${code}: a session whose directory can't be made says so, and is made when there is room`, async t => {
    const id = await client.session()
    await without(code, id, async () => {
      t.match(await call(id, 'print'), { ok: false, error: { code: code === 'EDQUOT' ? 'QUOTA_EXCEEDED' : 'TOOL_UNAVAILABLE', message: /^the directory of the session can't be made: the / } })
      t.match(await put(id, '/a', 'x'), http)
    })
    t.notOk(existsSync(join(sessionsDir, id)))
    t.match(await put(id, '/a', 'x'), { status: 201 })
    t.match(await call(id, 'print'), { ok: true })
  })
}
