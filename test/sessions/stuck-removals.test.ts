import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { deleteTree, openTopDirectory, Trash, type TrashFault } from '@toolyard/workspace'

/* What becomes of others when the files of one session can't be removed. */

const unprivileged = 1_000
const skip = process.getuid?.() === 0 ? false : 'only root can make files that the worker can\'t remove'

/** The directory of sessions, with the trash of an unprivileged worker. */
function sessions (t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), 'toolyard-stuck-'))
  t.teardown(() => {
    process.seteuid?.(0)
    rmSync(dir, { recursive: true, force: true })
  })
  mkdirSync(join(dir, '.trash'))
  for (const path of [dir, join(dir, '.trash')]) chownSync(path, unprivileged, unprivileged)
  return dir
}

/** A session in the trash: files that go, and others that don't. */
function discarded (dir: string, name: string, { isStuck = false, files = 1 } = {}): void {
  const session = join(dir, '.trash', name)
  mkdirSync(session)
  if (isStuck) {
    mkdirSync(join(session, 'foreign'))
    writeFileSync(join(session, 'foreign/file'), '')
  }
  chownSync(session, unprivileged, unprivileged)
  for (let file = 0; file < files; file++) writeFileSync(join(session, String(file)), '')
}

t.test('sessions that can\'t be removed hold up no others, are told, and are tried ever more seldom', { skip }, async t => {
  const dir = sessions(t)
  for (let n = 0; n < 50; n++) discarded(dir, `a-stuck-${n}`, { isStuck: true })
  for (let n = 0; n < 50; n++) discarded(dir, `z-other-${n}`)
  const faults: TrashFault[] = []
  const trash = new Trash(dir, fault => { faults.push(fault) })
  process.seteuid?.(unprivileged)
  await trash.clear(60_000)
  t.equal(readdirSync(join(dir, '.trash')).filter(name => name.startsWith('z')).length, 0)
  t.same([faults.length, trash.stuck], [50, 50])
  t.match(faults[0], { path: /\.trash\/a-stuck-\d+$/, error: { code: 'EACCES' }, failures: 1 })
  t.same(readdirSync(join(dir, '.trash/a-stuck-0')), ['foreign'], 'what can be removed of them is')
  await trash.clear(60_000)
  t.equal(faults.length, 50, 'they wait for their next attempt')
  process.seteuid?.(0)
  for (const name of readdirSync(join(dir, '.trash'))) rmSync(join(dir, '.trash', name, 'foreign'), { recursive: true })
  process.seteuid?.(unprivileged)
  await waitFor('their removal, now that it works', async () => {
    await trash.clear(1_000)
    return readdirSync(join(dir, '.trash')).length === 0
  })
  await trash.close()
})

t.test('a session of very many files holds up no other one', async t => {
  const dir = sessions(t)
  discarded(dir, 'a', { files: 20_000 })
  for (let n = 0; n < 100; n++) discarded(dir, `z${n}`)
  const trash = new Trash(dir, ({ error }) => { t.fail(error.message) })
  // The list goes on in the next turn where it was in the last one, whichever order it has.
  for (let turns = 0; readdirSync(join(dir, '.trash')).some(name => name.startsWith('z')); turns++) await trash.clear(10)
  t.ok(existsSync(join(dir, '.trash/a')), 'the large one is still there')
  await trash.clear(60_000)
  t.same(readdirSync(join(dir, '.trash')), [])
  await trash.close()
})

t.test('a tree of any depth is removed', async t => {
  const dir = sessions(t)
  let at = openTopDirectory(dir)
  const top = at
  for (let depth = 0; depth < 3_000; depth++) {
    mkdirSync(`/proc/self/fd/${at.handle.fd}/d`)
    const below = openTopDirectory(`/proc/self/fd/${at.handle.fd}/d`)
    if (at !== top) at.handle.close()
    at = below
  }
  at.handle.close()
  t.equal(await deleteTree(top, 'd', new AbortController().signal), 3_000)
  t.notOk(existsSync(join(dir, 'd')))
  top.handle.close()
})

t.test('one entry that can\'t be removed keeps no other one of its tree', { skip }, async t => {
  const dir = sessions(t)
  discarded(dir, 's', { isStuck: true, files: 20 })
  const trash = openTopDirectory(join(dir, '.trash'))
  process.seteuid?.(unprivileged)
  await t.rejects(deleteTree(trash, 's', new AbortController().signal), { code: 'EACCES' })
  t.same(readdirSync(join(dir, '.trash/s')), ['foreign'])
  trash.handle.close()
})
