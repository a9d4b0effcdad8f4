import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLauncher, type CallGroup } from '@toolyard/sandbox'
import t, { type Test } from 'tap'
import { isAlive } from '../executors/fixture.ts'
import { waitFor } from '../support/condition.ts'
import { nap, running } from './running.ts'

const skip = process.platform === 'linux' ? false : 'only Linux has the helper process'

type Launcher = ReturnType<typeof createLauncher>
type Request = Parameters<Launcher['launch']>[0]

/** A launcher whose groups are files in a directory, which take what is written and do nothing. */
function groupedLauncher (t: Test): Launcher & { own: string, base: string, sleep: (rest?: Partial<Request>) => ReturnType<Launcher['launch']> } {
  const base = t.testdir({ own: '', call: '', limit: '' })
  const own = join(base, 'own')
  const launcher = createLauncher({ prefix: [] }, { ofHelper: () => ({ members: [own], shares: [join(base, 'share-'), join(base, 'none/share-')], processes: 259 }) })
  t.teardown(async () => { await launcher.close() })
  const plan = { program: '/bin/sleep', args: ['600'], env: {}, cwd: '/' }
  return { ...launcher, own, base, sleep: async rest => await launcher.launch({ plan, stdin: '', files: [], ...rest }) }
}

function groupIn (base: string, members: string, limit: string): CallGroup {
  return { members: [join(base, members)], limits: [[join(base, limit), '1']], remove: async () => { await Promise.resolve() } }
}

void t.test('a call whose control group is gone, or refuses, fails by itself: no other call ends with it', { skip }, async t => {
  const { base, own, sleep } = groupedLauncher(t)
  const other = await sleep()
  let ended = false
  void other.exited.then(() => { ended = true })
  const gone = { plan: { program: '/bin/sleep', args: ['600'], env: {}, cwd: join(base, 'none') } }
  const starts: Array<Partial<Request>> = [
    { group: groupIn(base, 'call', 'none/limit') },
    { group: groupIn(base, 'none/members', 'limit') },
    { group: groupIn(base, 'none/members', 'none/limit') },
    { group: groupIn(base, 'call', 'none/limit'), files: [join(base, 'none')] },
    { group: groupIn(base, 'call', 'none/limit'), ...gone }
  ]
  for (const start of starts) {
    writeFileSync(own, '')
    writeFileSync(join(base, 'call'), '')
    await t.rejects(sleep(start))
    const stayed = readFileSync(join(base, 'call'), 'utf8') === ''
    t.ok(stayed || readFileSync(own, 'utf8') !== '', 'the helper is back in its own group when the call hears of it')
  }
  t.notOk(ended)
  await waitFor('a share that could not be made as a whole leaves nothing', () => !readdirSync(base).some(name => name.startsWith('share-')))
  const bounded = await sleep({ group: groupIn(base, 'call', 'limit') })
  t.equal(readFileSync(join(base, 'limit'), 'utf8'), '1')
  for (const { pid, release } of [other, bounded]) {
    t.ok(isAlive(pid))
    process.kill(pid, 'SIGKILL')
    release()
  }
})

void t.test('a process whose limits can\'t be set is ended, and the worker is to blame for it', { skip }, async t => {
  const { base, sleep } = groupedLauncher(t)
  const seconds = nap()
  const plan = { program: '/bin/sleep', args: [seconds], env: {}, cwd: '/' }
  await t.rejects(sleep({ plan, group: groupIn(base, 'call', 'none/limit') }), { code: 'cgroup ENOENT' })
  t.strictSame(running('/bin/sleep', seconds), [])
})

void t.test('a process that ends when the group of its share is gone is told to have ended, and no other ends with it', { skip }, async t => {
  const { base, sleep } = groupedLauncher(t)
  const shares = join(base, 'none')
  mkdirSync(shares)
  const first = await sleep()
  await waitFor('a share is made', () => existsSync(join(shares, 'share-0')))
  const [one, other] = [await sleep(), await sleep()]
  // At once: the helper may be making another one.
  renameSync(shares, join(base, 'gone'))
  process.kill(one.pid, 'SIGKILL')
  t.match(await one.exited, { signal: 'SIGKILL' })
  for (const { pid } of [first, other]) {
    t.ok(isAlive(pid))
    process.kill(pid, 'SIGKILL')
  }
  for (const { exited, release } of [first, one, other]) {
    await exited
    release()
  }
})
