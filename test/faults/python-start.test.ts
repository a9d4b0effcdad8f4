import { orElse } from '@toolyard/contract/terms'
import type { CallGroup, HostBox, ProcessGroups } from '@toolyard/sandbox'
import type { Sandbox } from '@toolyard/executors'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { boxed as python3InBox } from '../python/fixture.ts'
import { boxedPython, type BoxedPython } from '../sandbox/boxed-python.ts'
import { nap, running } from '../sandbox/running.ts'

const skip = python3InBox.skip

/** Groups that are files which don't exist: nothing can be moved there. */
function noGroups (base: string, hosts: string[]): ProcessGroups {
  const group: CallGroup = { members: [`${base}/none/cgroup.procs`], limits: [], remove: async () => { await Promise.resolve() } }
  return {
    ofHelper: () => ({ members: [], shares: [`${base}/none/share-`], processes: 259 }),
    share: () => ({ ...group, members: hosts }),
    groupOf: () => group,
    own: () => () => {},
    resting: () => () => {},
    close: async () => { await Promise.resolve() }
  }
}

/** Processes, a host and its box, whose command line names a directory. */
function naming (directory: string): string[] {
  return readdirSync('/proc').filter(pid => orElse(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(directory), false))
}

type Entry = ReturnType<HostBox['enter']>

/** Changes how hosts enter their boxes; `count` is 1 for the first that does. */
function entering (change: (entry: Entry, count: number) => Entry): (sandbox: Sandbox) => Partial<Sandbox> {
  let count = 0
  return sandbox => ({
    hostBoxOf (tool) {
      const box = sandbox.hostBoxOf(tool)
      return box && { ...box, enter: plan => change(box.enter(plan), ++count) }
    }
  })
}

async function endsSoon ({ executors }: BoxedPython): Promise<boolean> {
  const begun = performance.now()
  await executors.close()
  return performance.now() - begun < 5_000
}

void t.test('a Python host that hangs before its first word is given up, and the next call gets another one', { skip, timeout: 60_000 }, async t => {
  const seconds = nap()
  const host = await boxedPython(t, {
    change: entering((entry, count) => count > 1 ? entry : { ...entry, plan: { ...entry.plan, program: '/bin/sleep', args: [seconds] } })
  })
  const first = host.execute('tool', 'return 1')
  t.match(await host.call({ timeoutMs: 500 }), { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  t.match(await first, { ok: false, error: { code: 'SANDBOX_FAILED' } })
  t.strictSame(running('/bin/sleep', seconds), [])
  t.match(await host.call(), { ok: true, output: 1 })
  t.ok(await endsSoon(host))
})

void t.test('a Python root that is replaced while the box of its host is built is what the next host shows, and no call finds it empty', { skip, timeout: 60_000 }, async t => {
  const replaced = await boxedPython(t, {
    change: entering((entry, count) => {
      const { root, base } = replaced
      if (count === 1) {
        renameSync(root, join(base, 'away'))
        mkdirSync(root)
      } else if (count === 2) {
        rmdirSync(root)
        renameSync(join(base, 'away'), root)
      }
      return entry
    })
  })
  t.match(await replaced.execute('tool', 'return 1'), { ok: true, output: 1 })
  const missed = await boxedPython(t, {
    change: entering((entry, count) => {
      const { args } = entry.plan
      const at = args.findIndex((word, index) => word === '--ro-bind-try' && args[index + 2] === missed.root)
      // The root was away when bubblewrap looked for it, and is the same again.
      return count > 1 ? entry : { ...entry, plan: { ...entry.plan, args: [...args.slice(0, at), ...args.slice(at + 3)] } }
    })
  })
  t.match(await missed.execute('tool', 'return 1'), { ok: true, output: 1 })
})

void t.test('a Python host that no control group takes is ended, and its call fails', { skip, timeout: 30_000 }, async t => {
  const host = await boxedPython(t, { change: () => ({ groups: noGroups('/', ['/none/cgroup.procs']) }) })
  t.match(await host.execute('tool', 'return 1'), { ok: false, error: { code: 'INTERNAL', message: 'the worker cannot start a Python host: ENOENT' } })
  t.strictSame(naming(host.root), [])
  t.ok(await endsSoon(host))
})

void t.test('a Python call that no control group takes is ended before it begins, and its worker can end', { skip, timeout: 30_000 }, async t => {
  const host = await boxedPython(t, { change: () => ({ groups: noGroups('/', []) }) })
  const refused = await host.execute('tool', 'open("began", "w")', { limits: { processes: 9 }, permissions: ['write_files'] })
  t.match(refused, { ok: false, error: { code: 'INTERNAL', message: 'the worker cannot bound a process: ENOENT' } })
  t.match(await host.execute('other', 'return os.path.exists("began")', { permissions: ['write_files'] }), { ok: true, output: false })
  t.ok(await endsSoon(host))
})
