import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { injectService } from '../support/injected.ts'
import { testKeys } from '../support/service.ts'

/** In memory: such a file system keeps times that no Date can hold, as Btrfs, ZFS and NFS do. */
const memory = '/dev/shm'
const seconds = ['99999999999999', '-99999999999999', '253402300800', '-62167219201', '1', '-1']

if (!existsSync(memory)) t.pass('there is no file system that keeps any time', { skip: true })
else {
  const workspace = mkdtempSync(join(memory, 'toolyard-times-'))
  t.teardown(() => { rmSync(workspace, { recursive: true }) })
  mkdirSync(join(workspace, 'directory'))
  for (const second of seconds) writeFileSync(join(workspace, second), 'x')
  for (const second of seconds) spawnSync('touch', ['-d', `@${second}`, join(workspace, second)])
  spawnSync('touch', ['-d', '@99999999999999', join(workspace, 'directory')])
  const service = await injectService(t, { env: { WORKSPACE_DIR: workspace } })
  const { client } = service
  const date = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

  t.test('a file whose time is none that a date can say is listed, read and packed like any other', async t => {
    t.equal(String(statSync(join(workspace, '99999999999999')).mtime), 'Invalid Date')
    const listed = await client.request('/v1/files')
    t.equal(listed.status, 200)
    const { entries } = listed.body as { entries: Array<{ name: string, modified_at: string }> }
    t.equal(entries.length, seconds.length + 1)
    for (const { name, modified_at: at } of entries) t.match(at, date, name)
    t.match(entries.find(({ name }) => name === '99999999999999'), { modified_at: '9999-12-31T23:59:59.999Z' })
    t.match(entries.find(({ name }) => name === '-99999999999999'), { modified_at: '0000-01-01T00:00:00.000Z' })
    t.match(entries.find(({ name }) => name === '-1'), { modified_at: '1969-12-31T23:59:59.000Z' })
    for (const second of seconds) {
      const { statusCode, headers } = await service.app.inject({ url: `/v1/files/${second}`, headers: { 'x-api-key': testKeys.admin } })
      t.equal(statusCode, 200)
      t.match(headers['last-modified'], /^\w{3}, \d\d \w{3} \d{4} [\d:]+ GMT$/, second)
    }
  })

  t.test('built-in tools tell of such files', async t => {
    const list = await client.request('/v1/tools/workspace_list', { method: 'POST', body: {} })
    t.equal((list.body as { entries: unknown[] }).entries.length, seconds.length + 1)
    for (const path of [...seconds, 'directory']) {
      const { body } = await client.request('/v1/tools/workspace_stat', { method: 'POST', body: { path } })
      t.match(body, { modified_at: date }, path)
    }
  })

  t.test('an archive with such files can be unpacked', async t => {
    const { rawPayload } = await service.app.inject({ url: '/v1/files?archive=tar', headers: { 'x-api-key': testKeys.admin } })
    const { status, stdout, stderr } = spawnSync('tar', ['-tf', '-'], { input: rawPayload, encoding: 'utf8' })
    t.equal(status, 0, stderr)
    t.same(stdout.trim().split('\n').sort(), ['directory/', ...seconds].sort())
  })
}
