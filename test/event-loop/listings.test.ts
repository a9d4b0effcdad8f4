import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { FileList } from '@toolyard/contract'
import { createService } from '../support/service.ts'
import { turnEnvironment, turnsOf } from './service-turns.ts'

const env = turnEnvironment()
const service = await createService(t, { env })
const leavesLoopsFree = turnsOf(service, env)

/** As deep as paths may lead, and with names as long as a URL may have them; no path may be that long, so it is made step by step. */
const deep = Array.from({ length: 60 }, () => 'd'.repeat(240))
const files = Array.from({ length: 1_500 }, (_, n) => `${'f'.repeat(240)}${10_000 + n}`)
const from = process.cwd()
process.chdir(join(service.dir, 'workspace'))
for (const name of deep) {
  mkdirSync(name)
  process.chdir(name)
}
for (const name of files) writeFileSync(name, '')
process.chdir(from)
// Node.js removes nothing that has a path this long.
t.teardown(() => { spawnSync('rm', ['-r', join(service.dir, 'workspace', deep[0] ?? '')]) })

t.test('promise 10: a page of a directory with the longest paths is short, and the pages have all of it', async t => {
  const page = async (cursor?: string): Promise<FileList> => {
    const { status, body } = await service.client.request<FileList>(`/v1/files/${deep.join('/')}?limit=1000${cursor === undefined ? '' : `&cursor=${cursor}`}`)
    t.equal(status, 200)
    return body
  }
  await leavesLoopsFree(t, 'a page of the longest paths', page)
  const found: string[] = []
  for (let next: string | null | undefined; next !== null;) {
    const { entries, next_cursor: cursor } = await page(next)
    found.push(...entries.map(({ name }) => name))
    next = cursor
  }
  t.same(found, files)
})
