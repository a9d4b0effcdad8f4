import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { writeHeader } from '@toolyard/workspace'
import { waitFor } from '../support/condition.ts'
import { injectService } from '../support/injected.ts'
import { makeKeys } from '../support/service.ts'

const { keys, API_KEYS_JSON } = makeKeys({ noisy: { tenant: 'noisy' }, quiet: { tenant: 'quiet' } })
const sessionsDir = mkdtempSync(join(tmpdir(), 'toolyard-sessions-'))
t.teardown(() => { rmSync(sessionsDir, { recursive: true }) })
const { client, app } = await injectService(t, { workers: 0, env: { SESSIONS_DIR: sessionsDir, API_KEYS_JSON } })
const url = await app.listen({ port: 0, host: '127.0.0.1' })
const [uploads, files] = [100, 40]
const entry = (index: number): Buffer => writeHeader({ name: Buffer.from(`file-${index}`), size: 0, mode: 0o644, mtime: new Date(), type: '0' })
const archive = Buffer.concat([...Array.from({ length: files }, (_, index) => entry(index)), Buffer.alloc(1_024)])

async function put (key: string, path: string, body: Uint8Array | string): Promise<number> {
  const answer = await fetch(`${url}/v1/sessions/${path}`, { method: 'PUT', headers: { 'x-api-key': key }, body })
  await answer.text()
  return answer.status
}

t.test('a tenant that puts thousands of files at once holds up its own: another one\'s file is there after a few of them', async t => {
  const ids: string[] = []
  while (ids.length < uploads) ids.push(await client.session(keys.noisy))
  const own = await client.session(keys.quiet)
  const there = (): number => ids.reduce((sum, id) => {
    try {
      return sum + readdirSync(join(sessionsDir, id)).filter(name => name.startsWith('file-')).length
    } catch {
      return sum
    }
  }, 0)
  const all = Promise.all(ids.map(async id => await put(keys.noisy, `${id}/files?archive=tar`, archive)))
  const counts: number[] = []
  for (let tries = 0; tries < 5; tries++) {
    await waitFor('files come', () => there() > uploads * (tries + 1))
    const before = there()
    t.match(await put(keys.quiet, `${own}/files/file-${tries}`, 'mine'), 201)
    counts.push(there() - before)
  }
  t.ok(Math.min(...counts) < uploads / 2, `${counts.join(', ')} files of the other tenant came first`)
  t.same(new Set(await all), new Set([200]))
})

t.test('an upload that breaks off while it waits for its turn at the disk leaves nothing', async t => {
  const id = await client.session(keys.noisy)
  t.equal(await put(keys.noisy, `${id}/files/before`, 'x'), 201)
  const handle = await open(sessionsDir)
  t.teardown(async () => { await handle.close() })
  let release = (): void => {}
  const released = new Promise<void>(resolve => { release = resolve })
  let waiting = 0
  // A disk that is slow to keep directories: three uploads have all places, and the fourth has none.
  const prototype: FileHandle = Object.getPrototypeOf(handle) as FileHandle
  const sync = Reflect.get<FileHandle, 'sync'>(prototype, 'sync')
  t.intercept(prototype, 'sync', {
    value: async function (this: FileHandle): Promise<void> {
      if ((await this.stat()).isDirectory()) {
        waiting++
        await released
      }
      await sync.call(this)
    }
  })
  const leaving = new AbortController()
  const all = Promise.allSettled(['a', 'b', 'c', 'd'].map(async name => await fetch(`${url}/v1/sessions/${id}/files/${name}`, {
    method: 'PUT', headers: { 'x-api-key': keys.noisy }, body: 'x'.repeat(100_000), signal: leaving.signal
  })))
  const files = (): string[] => readdirSync(join(sessionsDir, id))
  await waitFor('three have all places, and the fourth has come', () => waiting === 3 && files().length === 5)
  leaving.abort()
  await all
  await waitFor('the fourth is gone', () => files().length === 4)
  release()
})
