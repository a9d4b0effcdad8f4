import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { endFirst, findHierarchy, memoryBound, openToolGroups } from '@toolyard/sandbox'
import t, { type Test } from 'tap'

const version1 = [
  '30 25 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw',
  '31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:1 - cgroup cgroup rw,cpu,cpuacct',
  '32 30 0:28 /docker/1a /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
  '33 30 0:29 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids',
  '34 30 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw'
].join('\n')
const version2 = '30 25 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate'

function hierarchyOf (t: Test, mountinfo: string, cgroup: string): unknown {
  return findHierarchy(t.testdir({ mountinfo, cgroup }))
}

t.test('control groups of version 2 are found at their mount point', async t => {
  t.same(hierarchyOf(t, version2, '0::/system.slice/toolyard.service\n'), { version: 2, directory: '/sys/fs/cgroup/system.slice/toolyard.service' })
  t.same(hierarchyOf(t, version2.replace(' / /sys', ' /pod/1a /sys'), '0::/pod/1a/worker\n'), { version: 2, directory: '/sys/fs/cgroup/worker' })
  t.equal(hierarchyOf(t, version2.replace(' / /sys', ' /pod/1a /sys'), '0::/pod/1ab\n'), undefined, 'not mounted here')
})

t.test('controllers of version 1 are used where they exist', async t => {
  t.same(hierarchyOf(t, version1, '4:memory:/docker/1a\n3:pids:/user\n2:cpu,cpuacct:/\n0::/\n'), {
    version: 1,
    directories: new Map([['memory', '/sys/fs/cgroup/memory'], ['pids', '/sys/fs/cgroup/pids/user'], ['cpu', '/sys/fs/cgroup/cpu,cpuacct']])
  })
})

t.test('without control groups there is no hierarchy', async t => {
  t.equal(hierarchyOf(t, '30 25 0:26 / / rw - ext4 /dev/vda rw', ''), undefined)
  t.equal(findHierarchy(t.testdir({})), undefined)
})

/** A directory with the files of a group, which take what is written and do nothing. */
function groupFiles (t: Test, delegated: string): string {
  const directory = t.testdir({ service: { 'cgroup.controllers': delegated, 'cgroup.procs': `${process.pid}\n4000000\n`, 'cgroup.subtree_control': '' } })
  return join(directory, 'service')
}

t.test('with version 2 the service moves into a group below its own, and the tools get one beside it', async t => {
  const directory = groupFiles(t, 'cpuset cpu io memory pids\n')
  const groups = openToolGroups({ version: 2, directory }, { memoryBytes: 2 ** 30, processes: 4_096, ofCall: 256 }, process.pid)
  const read = (...path: string[]): string => readFileSync(join(directory, ...path), 'utf8')
  t.equal(read('toolyard-services', 'cgroup.procs'), String(process.pid), 'and nobody who was not there')
  t.equal(read('cgroup.subtree_control'), '+memory +pids +cpu')
  const { members: [members = ''], shares, processes } = groups.ofHelper()
  const group = join(members, '../..')
  t.same(['memory.max', 'pids.max', 'cpu.weight', 'cgroup.subtree_control'].map(name => readFileSync(join(group, name), 'utf8')), [String(2 ** 30), '4096', '50', '+memory +pids +cpu'])
  t.equal(members, join(group, 'tools/cgroup.procs'), 'a group with controllers has no processes of its own')
  t.strictSame([shares, processes], [[join(group, 'share-0-')], 259])
  t.same(groups.share('inner').members, [join(group, 'share-1', 'cgroup.procs')])
  t.equal(readFileSync(join(group, 'share-1', 'pids.max'), 'utf8'), '257')
  const call = groups.groupOf({ processes: 10 }, 'inner')
  t.same(call?.limits, [[join(group, 'call-0', 'pids.max'), '11']])
  t.same(call?.members, [join(group, 'call-0', 'cgroup.procs')])
  t.equal(groups.groupOf({}, 'box'), undefined)
})

t.test('a worker that starts beside others finds their group one level up', async t => {
  const directory = groupFiles(t, 'cpu memory pids\n')
  const services = join(directory, 'toolyard-services')
  mkdirSync(services)
  writeFileSync(join(services, 'cgroup.procs'), '')
  writeFileSync(join(directory, 'cgroup.procs'), '')
  const groups = openToolGroups({ version: 2, directory: services }, { ofCall: 256 }, process.pid)
  t.match(groups.ofHelper().members[0], new RegExp(`^${directory}/toolyard-\\d+-\\d+/tools/cgroup.procs$`))
  t.equal(readFileSync(join(services, 'cgroup.procs'), 'utf8'), '')
})

t.test('a controller that is not delegated is reported, and nothing is changed', async t => {
  const directory = groupFiles(t, 'memory\n')
  t.throws(() => openToolGroups({ version: 2, directory }, { ofCall: 256 }, process.pid), { message: `the controllers cpu, pids are not delegated to ${directory}` })
  t.notOk(existsSync(join(directory, 'toolyard-services')))
})

t.test('the memory that the service may have is the least of its group and of those around it, and no more than the machine has', async t => {
  const directory = t.testdir({ 'memory.max': '5000\n', 'memory.stat': 'cache 1\nhierarchical_memory_limit 7000\n', unit: { 'memory.max': '9000\n', 'toolyard-services': { 'memory.max': 'max\n' } } })
  t.equal(memoryBound({ version: 2, directory: join(directory, 'unit/toolyard-services') }), 5_000)
  t.equal(memoryBound({ version: 1, directories: new Map([['memory', directory]]) }), 7_000)
  t.equal(memoryBound({ version: 1, directories: new Map() }), totalmem())
})

t.test('a group that can not be made in each hierarchy leaves nothing in the others', async t => {
  const base = t.testdir({ memory: {}, pids: {}, cpu: {} })
  const directories = new Map((['memory', 'pids', 'cpu'] as const).map(name => [name, join(base, name)]))
  const groups = openToolGroups({ version: 1, directories }, { ofCall: 256 }, process.pid)
  const [name = ''] = readdirSync(join(base, 'pids'))
  const left = (): string[] => ['memory', 'cpu'].flatMap(controller => readdirSync(join(base, controller, name), { withFileTypes: true }).flatMap(entry => entry.isDirectory() ? [entry.name] : []))
  rmSync(join(base, 'pids', name), { recursive: true })
  for (const make of [() => groups.groupOf({ processes: 10 }, 'box'), () => groups.share('inner')]) t.throws(make, { code: 'ENOENT' })
  t.strictSame(left(), [])
})

/** What files of a group say: how much is held, and how much of that the kernel drops when memory is needed. */
const told = {
  1: (used: number, droppable: number) => ({
    'memory.usage_in_bytes': `${used}\n`, 'memory.kmem.usage_in_bytes': `${droppable / 2}\n`, 'memory.stat': `total_inactive_file ${droppable / 2}\ntotal_active_file 0\n`
  }),
  2: (used: number, droppable: number) => ({
    'memory.current': `${used}\n`, 'memory.stat': `inactive_file ${droppable / 2}\nactive_file 0\nslab_reclaimable ${droppable / 2}\n`
  })
} as const

for (const version of [1, 2] as const) {
  t.test(`version ${version}: what the kernel drops by itself, such as files that were read and their names, is not counted when memory is short`, async t => {
    const directory = groupFiles(t, 'cpu memory pids\n')
    const hierarchy = version === 2 ? { version, directory } : { version, directories: new Map((['memory', 'cpu', 'pids'] as const).map(name => [name, directory])) }
    const ended: number[] = []
    const onEnded = ({ held }: { held: number }): void => { ended.push(held) }
    const groups = openToolGroups(hierarchy, { memoryBytes: 1_000, ofCall: 256, onEnded }, process.pid)
    t.teardown(async () => { await groups.close() })
    const tell = (group: string, used: number, droppable: number): void => {
      // The whole is said last, and is what is looked at first.
      for (const [name, text] of Object.entries(told[version](used, droppable)).reverse()) writeFileSync(join(group, name), text)
    }
    const begin = (used: number, droppable: number): ChildProcess => {
      const child = spawn('sleep', ['60'])
      t.teardown(() => { child.kill() })
      endFirst(child.pid ?? 0)
      const [members = ''] = groups.share('inner').members
      writeFileSync(members, `${child.pid}\n`)
      tell(join(members, '..'), used, droppable)
      return child
    }
    const reader = begin(900, 600)
    const greatest = begin(500, 0)
    tell(join(groups.ofHelper().members[0] ?? '', version === 2 ? '../..' : '..'), 950, 0)
    t.strictSame(await once(greatest, 'exit'), [null, 'SIGKILL'])
    t.strictSame([ended, reader.exitCode], [[500], null])
  })
}

for (const version of [1, 2] as const) {
  t.test(`version ${version}: what the kernel has left when it was told to drop what it can is held`, async t => {
    const directory = groupFiles(t, 'cpu memory pids\n')
    const hierarchy = version === 2 ? { version, directory } : { version, directories: new Map((['memory', 'cpu', 'pids'] as const).map(name => [name, directory])) }
    const groups = openToolGroups(hierarchy, { memoryBytes: 1_000, ofCall: 256 }, process.pid)
    t.teardown(async () => { await groups.close() })
    const kernel = version === 2 ? (bytes: number) => ({ 'memory.stat': `slab_reclaimable ${bytes}\n` }) : (bytes: number) => ({ 'memory.kmem.usage_in_bytes': `${bytes}\n` })
    const tell = (group: string, used: number, ofKernel: number): void => {
      const files = { ...told[version](used, 0), ...kernel(ofKernel) }
      for (const [name, text] of Object.entries(files).reverse()) writeFileSync(join(group, name), text)
    }
    const begin = (used: number, ofKernel: number): { child: ChildProcess, group: string } => {
      const child = spawn('sleep', ['60'])
      t.teardown(() => { child.kill() })
      endFirst(child.pid ?? 0)
      const [members = ''] = groups.share('inner').members
      const group = join(members, '..')
      writeFileSync(join(group, version === 2 ? 'memory.reclaim' : 'memory.force_empty'), '')
      writeFileSync(members, `${child.pid}\n`)
      tell(group, used, ofKernel)
      return { child, group }
    }
    const other = begin(400, 0)
    const greatest = begin(600, 580)
    tell(join(groups.ofHelper().members[0] ?? '', version === 2 ? '../..' : '..'), 1_000, 580)
    t.strictSame(await once(greatest.child, 'exit'), [null, 'SIGKILL'])
    t.equal(other.child.exitCode, null)
  })
}

t.test('calls whose memory the kernel would drop without an end do not keep it from telling what another holds', async t => {
  const directory = groupFiles(t, 'cpu memory pids\n')
  const directories = new Map((['memory', 'cpu', 'pids'] as const).map(name => [name, directory]))
  const groups = openToolGroups({ version: 1, directories }, { memoryBytes: 1_000, ofCall: 256 }, process.pid)
  t.teardown(async () => { await groups.close() })
  const child = spawn('sleep', ['60'])
  t.teardown(() => { child.kill() })
  endFirst(child.pid ?? 0)
  const begin = (used: number, ofKernel: number, pid: number | undefined, endless: boolean): void => {
    const [members = ''] = groups.share('inner').members
    const file = join(members, '../memory.force_empty')
    if (endless) {
      execFileSync('mkfifo', [file])
      const pipe = openSync(file, constants.O_RDWR | constants.O_NONBLOCK)
      t.teardown(() => { closeSync(pipe) })
      t.throws(() => { for (;;) writeSync(pipe, Buffer.alloc(4_096)) }, { code: 'EAGAIN' }, 'who writes more waits for good')
    } else writeFileSync(file, '')
    writeFileSync(members, pid === undefined ? '' : `${pid}\n`)
    for (const [name, bytes] of Object.entries({ usage_in_bytes: used, 'kmem.usage_in_bytes': ofKernel })) writeFileSync(join(members, `../memory.${name}`), `${bytes}\n`)
  }
  begin(20, 20, undefined, true)
  begin(18, 18, undefined, true)
  begin(865, 17, child.pid, false)
  const all = join(groups.ofHelper().members[0] ?? '', '..')
  writeFileSync(join(all, 'memory.kmem.usage_in_bytes'), '55\n')
  writeFileSync(join(all, 'memory.usage_in_bytes'), '903\n')
  const waiting = new AbortController()
  t.teardown(() => { waiting.abort() })
  const late = sleep(10_000, 'nothing was ended', { signal: waiting.signal }).catch(() => {})
  t.strictSame(await Promise.race([once(child, 'exit'), late]), [null, 'SIGKILL'])
})

t.test('a call that holds little is ended where its owner has many of them, which leave others nothing', async t => {
  const directory = groupFiles(t, 'cpu memory pids\n')
  const ended: number[] = []
  const onEnded = ({ held }: { held: number }): void => { ended.push(held) }
  const groups = openToolGroups({ version: 2, directory }, { processes: 1_000, ofCall: 256, onEnded }, process.pid)
  t.teardown(async () => { await groups.close() })
  const begin = (pid: number, owner: string, held: number): void => {
    const [members = ''] = groups.share('inner').members
    writeFileSync(members, `${pid}\n`)
    writeFileSync(join(members, '../pids.current'), `${held}\n`)
    groups.own(pid, { owner, ended () {} })
  }
  const child = spawn('sleep', ['60'])
  t.teardown(() => { child.kill() })
  endFirst(child.pid ?? 0)
  begin(child.pid ?? 0, 'many', 15)
  for (let place = 1; place < 60; place++) begin(4_000_000 + place, 'many', 14)
  begin(4_000_100, 'other', 50)
  writeFileSync(join(groups.ofHelper().members[0] ?? '', '../../pids.current'), '910\n')
  const waiting = new AbortController()
  const over = await Promise.race([once(child, 'exit'), sleep(5_000, 'nothing was ended in fifty looks', { signal: waiting.signal })])
  waiting.abort()
  t.strictSame([over, ended], [[null, 'SIGKILL'], [15]])
})

t.test('a process that has the number of one that ended is still known when the call of that one is over', async t => {
  const directory = groupFiles(t, 'cpu memory pids\n')
  const ended: string[] = []
  const groups = openToolGroups({ version: 2, directory }, { processes: 100, ofCall: 256 }, process.pid)
  t.teardown(async () => { await groups.close() })
  const child = spawn('sleep', ['60'])
  t.teardown(() => { child.kill() })
  const pid = child.pid ?? 0
  endFirst(pid)
  const [members = ''] = groups.share('inner').members
  writeFileSync(members, `${pid}\n`)
  writeFileSync(join(members, '../pids.current'), '95\n')
  const over = groups.own(pid, { owner: 'first', ended () { ended.push('first') } })
  groups.own(pid, { owner: 'second', ended () { ended.push('second') } })
  over()
  writeFileSync(join(groups.ofHelper().members[0] ?? '', '../../pids.current'), '95\n')
  t.strictSame(await once(child, 'exit'), [null, 'SIGKILL'])
  t.strictSame(ended, ['second'])
})
