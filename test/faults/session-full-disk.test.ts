import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { SessionView } from '@toolyard/contract'
import { archiveOf } from '../archives/archive-parts.ts'
import { waitFor } from '../support/condition.ts'
import { createService } from '../support/service.ts'

t.setTimeout(120_000)

/** A file system of its own that has room for a megabyte, and for a hundred files. */
const disk = mkdtempSync(join(tmpdir(), 'toolyard-disk-'))
const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,nr_inodes=100', 'tmpfs', disk]).status === 0
t.teardown(() => {
  if (isMounted) spawnSync('umount', ['-l', disk])
  rmSync(disk, { recursive: true })
})
const skip = !isMounted && 'this user can mount no file system'

void t.test('when the disk of the sessions is full, uploads and calls that fill it fail with the reason, existing files stay whole, and freed room is used again', { skip }, async t => {
  const service = await createService(t, {
    env: { SESSIONS_DIR: disk },
    files: { 'tools/bin/fill': '#!/bin/sh\ncat > /dev/null\nhead -c 2000000 /dev/zero > made || { echo "no room" >&2; exit 1; }\n' },
    tools: [{ name: 'fill', schema: { type: 'object' }, command: ['./tools/bin/fill'] }]
  })
  const { client } = service
  const { body: { session: { id } } } = await client.request<{ session: SessionView }>('/v1/sessions', { body: {} })
  const files = `/v1/sessions/${id}/files`
  const put = async (path: string, size: number): Promise<{ status: number, body: object }> => (
    await client.request(`${files}/${path}`, { method: 'PUT', body: 'x'.repeat(size), headers: { 'content-type': 'application/octet-stream' } })
  )
  t.equal((await put('kept', 500_000)).status, 201)
  t.match(await put('more', 900_000), { status: 507, body: { error: { code: 'STORAGE_FULL' } } })
  t.match(await put('kept', 900_000), { status: 507 }, 'nor does one take the place of another')
  const archive = archiveOf([{ name: 'a', content: Buffer.from('first') }, { name: 'b', content: Buffer.alloc(900_000, 'x') }])
  const unpacked = await fetch(`${service.api.address}${files}?archive=tar`, { method: 'PUT', body: new Uint8Array(archive), headers: { 'x-api-key': String(service.env['API_KEYS_JSON']).match(/"key":"([^"]+)"/)?.[1] ?? '' } })
  t.equal(unpacked.status, 507, await unpacked.text())
  t.strictSame(readdirSync(join(disk, id)).sort(), ['a', 'kept'], 'nothing half written is left')
  t.equal((await client.request(`${files}/kept`)).text.length, 500_000, 'what was there is whole')

  t.match(await client.batch([{ call_id: 'c', name: 'fill' }], { session: id }), { results: [{ ok: false, error: { code: 'TOOL_FAILED', message: /no room|No space left/ } }] })
  for (const path of ['made', 'kept']) t.equal((await client.request(`${files}/${path}`, { method: 'DELETE' })).status, 204, path)
  t.equal((await put('more', 900_000)).status, 201, 'with room it goes on')
})

void t.test('a session that has filled the disk of the sessions with files is removed, and the others have room again', { skip }, async t => {
  await removeFull(t, () => {})
})

void t.test('it is removed as well where the directory for what is removed is gone', { skip }, async t => {
  await removeFull(t, () => { rmSync(join(disk, '.trash'), { recursive: true }) })
})

async function removeFull (t: Test, whenFull: () => void): Promise<void> {
  const service = await createService(t, {
    env: { SESSIONS_DIR: disk },
    files: { 'tools/bin/crowd': '#!/bin/sh\ncat > /dev/null\nfor i in $(seq 200); do : > "f$i" || exit 1; done\n' },
    tools: [{ name: 'crowd', schema: { type: 'object' }, command: ['./tools/bin/crowd'] }]
  })
  const { client } = service
  const [crowded, other] = [await client.session(), await client.session()]
  const put = async (): Promise<number> => (
    await client.request(`/v1/sessions/${other}/files/a`, { method: 'PUT', body: 'x', headers: { 'content-type': 'application/octet-stream' } })
  ).status
  const fill = async (): Promise<void> => {
    t.match(await client.call('crowd', {}, { session: crowded }), { ok: false, error: { code: 'TOOL_FAILED', message: /No space left/ } })
  }
  await fill()
  whenFull()
  await fill()
  t.equal(await put(), 507)
  t.equal((await client.request(`/v1/sessions/${crowded}`, { method: 'DELETE' })).status, 202)
  t.ok(await waitFor('there is room again', async () => await put() === 201))
}
