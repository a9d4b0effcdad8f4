import { lstatSync, lutimesSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keepFresh } from '@toolyard/runtime'
import t from 'tap'
import { waitFor } from '../support/condition.ts'

const day = 86_400

t.test('what a process keeps in a temporary directory never gets as old as what programs that clean /tmp remove; what links lead to does', async t => {
  const base = t.testdir({ kept: { 'a.txt': 'a', inner: { 'b.txt': 'b' } }, other: { 'c.txt': 'c' } })
  const kept = join(base, 'kept')
  symlinkSync(join(base, 'other'), join(kept, 'link'))
  mkdirSync(join(kept, 'empty'))
  writeFileSync(join(kept, 'inner', '.hidden'), '')
  const own = ['', 'a.txt', 'inner', 'inner/b.txt', 'inner/.hidden', 'empty', 'link'].map(name => join(kept, name))
  const others = ['other', 'other/c.txt'].map(name => join(base, name))
  const old = Date.now() / 1_000 - 20 * day
  for (const path of [...own, ...others]) lutimesSync(path, old, old)
  const isOld = (path: string): boolean => Date.now() - Math.min(lstatSync(path).mtimeMs, lstatSync(path).atimeMs) > day * 1_000
  const stop = keepFresh(kept, 20)
  t.teardown(stop)
  await waitFor('all of it is young again', () => !own.some(isOld))
  t.same(others.filter(isOld), others)
})
