import { orElse } from '@toolyard/contract/terms'
import type { CallGroup, HostBox, ProcessGroups } from '@toolyard/sandbox'
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { boxed as python3InBox } from '../python/fixture.ts'
import { boxedPython, type BoxedPython } from '../sandbox/boxed-python.ts'
import { nap, running } from '../sandbox/running.ts'

const skip = python3InBox.skip

/** Groups that are files which don't exist: nothing can be moved there. */
function noGroups (base: string, hosts: string[]): ProcessGroups {
  const group: CallGroup = { members: [`${base}/none/cgroup.procs`], limits: [], remove: async () => { await Promise.resolve() } }
  return {
    ofHelper: () => ({ members: [], shares: `${base}/none/share-` }),
    share: () => ({ ...group, members: hosts }),
    groupOf: () => group,
    close: async () => { await Promise.resolve() }
  }
}

/** Processes, a host and its box, whose command line names a directory. */
function naming (directory: string): string[] {
  return readdirSync('/proc').filter(pid => orElse(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(directory), false))
}

async function endsSoon ({ executors }: BoxedPython): Promise<boolean> {
  const begun = performance.now()
  await executors.close()
  return performance.now() - begun < 5_000
}

void t.test('a Python host that hangs before its first word is given up, and the next call gets another one', { skip, timeout: 60_000 }, async t => {
  const seconds = nap()
  let hung = false
  const hanging = (box: HostBox): HostBox => ({
    ...box,
    enter (plan) {
      const entry = box.enter(plan)
      const isFirst = !hung
      hung = true
      return isFirst ? { ...entry, plan: { ...entry.plan, program: '/bin/sleep', args: [seconds] } } : entry
    }
  })
  const host = await boxedPython(t, {
    change: sandbox => ({
      hostBoxOf (tool) {
        const box = sandbox.hostBoxOf(tool)
        return box && hanging(box)
      }
    })
  })
  const first = host.execute('tool', 'return 1')
  t.match(await host.call({ timeoutMs: 500 }), { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  t.match(await first, { ok: false, error: { code: 'SANDBOX_FAILED' } })
  t.strictSame(running('/bin/sleep', seconds), [])
  t.match(await host.call(), { ok: true, output: 1 })
  t.ok(await endsSoon(host))
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
