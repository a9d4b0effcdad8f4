import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { outputOf } from '../executors/fixture.ts'
import { boxedPython } from '../sandbox/boxed-python.ts'
import { boxedTools, withoutBox } from '../sandbox/boxed-tools.ts'
import { openSandbox } from '@toolyard/executors'

const program = join(import.meta.dirname, '../../../samples/hostile/tools/bin/devour.py')
const skip = await withoutBox() || await withoutGroups()

async function withoutGroups (): Promise<string | false> {
  const sandbox = await openSandbox({ mode: 'auto', env: process.env, workspaceDir: process.cwd(), hidden: [], defaultPermissions: [] })
  sandbox.close()
  const finding = sandbox.report.findings.find(({ layer }) => layer === 'cgroup')
  return finding?.holds === true ? false : `no control groups here: ${finding?.detail}`
}

void t.test('fault 16 the number of processes of a call is bounded, also for root', { skip }, async t => {
  const tools = await boxedTools(t)
  const { taken } = outputOf(await tools.run({ program, arguments: { what: 'processes' }, limits: { processes: 40 }, timeoutMs: 60_000 })) as { taken: number }
  t.ok(taken > 0 && taken <= 40, `it got ${taken} processes`)
  t.equal(outputOf(await tools.shell('echo fine')), 'fine')
})

void t.test('fault 16 the memory of all processes of a call together is bounded', { skip }, async t => {
  const tools = await boxedTools(t)
  const script = 'for i in 1 2 3 4; do (head -c 100000000 /dev/zero | tail -c 100000000 | (sleep 6; wc -c)) & done; wait'
  const counts = (await tools.shell(script, { limits: { memoryBytes: 2 ** 28 } }))
  const whole = String(counts.ok ? counts.output : '').split('\n').filter(line => line === '100000000').length
  t.ok(whole < 4, `${whole} of 4 processes held their 100 MB`)
  t.equal(outputOf(await tools.shell('echo fine')), 'fine')
})

void t.test('fault 16 the number of processes of a Python call is bounded, without other calls of its host', { skip }, async t => {
  const python = await boxedPython(t)
  const forks = [
    'taken = 0',
    'try:',
    '    while taken < 200:',
    '        if os.fork() == 0:',
    '            time.sleep(600)',
    '        taken += 1',
    'except OSError:',
    '    pass',
    'return taken'
  ].join('\n')
  const [bound, free] = await Promise.all([
    python.execute('bound', forks, { limits: { processes: 40 } }),
    python.execute('free', forks)
  ])
  const taken = Number(outputOf(bound))
  t.ok(taken > 0 && taken <= 40, `it got ${taken} processes`)
  t.equal(outputOf(free), 200)
})

void t.test('fault 16 the memory of all processes of a Python call together is bounded', { skip }, async t => {
  const python = await boxedPython(t)
  const outcome = await python.execute('greedy', [
    'reader, writer = os.pipe()',
    'children = set()',
    'for _ in range(4):',
    '    child = os.fork()',
    '    if child == 0:',
    '        held = b"x" * 100_000_000',
    '        os.write(writer, b".")',
    '        time.sleep(600)',
    '    children.add(child)',
    'os.set_blocking(reader, False)',
    'held = 0',
    'def living():',
    '    return {child for child in children if os.waitpid(child, os.WNOHANG)[0] == 0}',
    'children = living()',
    'while held < 4 and len(children) == 4:',
    '    try:',
    '        held += len(os.read(reader, 4))',
    '    except BlockingIOError:',
    '        time.sleep(0.05)',
    '    children = living()',
    'return len(children)'
  ].join('\n'), { limits: { memoryBytes: 2 ** 28 } })
  // The kernel may take the call's own process.
  t.ok(outcome.ok ? Number(outcome.output) < 4 : outcome.error.message === 'signal: SIGKILL', `all four processes held their 100 MB: ${JSON.stringify(outcome)}`)
  t.equal(outputOf(await python.execute('other', 'return "fine"')), 'fine')
})

void t.test('fault 16 a Python host and all that it forks are in the control group of the tools', { skip }, async t => {
  const python = await boxedPython(t)
  const stop = new AbortController()
  const running = python.execute('sleeper', 'print("runs", flush=True)\ntime.sleep(600)', { signal: stop.signal })
  await waitFor('it runs', () => python.logged.includes('runs'))
  const members = python.sandbox.groups?.members ?? []
  t.ok(members.length > 0)
  for (const file of members) {
    const pids = readFileSync(file, 'utf8').split('\n').filter(pid => pid !== '')
    const names = pids.map(pid => readFileSync(`/proc/${pid}/cmdline`, 'utf8'))
    // bubblewrap's two, the host, and init and child of the template and of the call.
    t.ok(names.filter(name => name.includes('toolyard_host.py')).length >= 7, `${file}: ${names.length}`)
  }
  stop.abort()
  t.match(await running, { ok: false })
})

void t.test('fault 10 no control group of a call or a worker is left behind', { skip }, async t => {
  const tools = await boxedTools(t)
  // With version 2 the processes are one level below.
  const directories = (tools.sandbox.groups?.members ?? []).map(file => file.replace(/(\/tools)?\/cgroup\.procs$/, ''))
  t.ok(directories.length > 0 && directories.every(existsSync))
  await Promise.all(Array.from({ length: 5 }, async () => { outputOf(await tools.shell('sleep 600 & true', { limits: { processes: 50 } })) }))
  t.strictSame(directories.flatMap(directory => readdirSync(directory)).filter(name => name.startsWith('call-')), [])
  await tools.executors.close()
  tools.sandbox.close()
  await waitFor('the groups of the worker are gone', () => !directories.some(existsSync))
})
