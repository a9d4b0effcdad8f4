import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { orElse } from '@toolyard/contract/terms'
import type { ProcessGroups } from '@toolyard/sandbox'
import t from 'tap'
import { waitFor } from '../support/condition.ts'
import { outputOf } from '../executors/fixture.ts'
import { boxedPython } from '../sandbox/boxed-python.ts'
import { boxedTools, withoutBox, withoutGroups } from '../sandbox/boxed-tools.ts'
import { nap } from '../sandbox/running.ts'
import type { Outcome } from '@toolyard/executors'

const program = join(import.meta.dirname, '../../../samples/hostile/tools/bin/devour.py')
const skip = await withoutBox() || await withoutGroups()

void t.test('fault 16 the number of processes of a call is bounded, also for root', { skip }, async t => {
  const tools = await boxedTools(t)
  const { taken } = outputOf(await tools.run({ program, arguments: { what: 'processes' }, limits: { processes: 40 }, timeoutMs: 60_000 })) as { taken: number }
  t.ok(taken > 0 && taken <= 40, `it got ${taken} processes`)
  t.equal(outputOf(await tools.shell('echo fine')), 'fine')
})

void t.test('fault 16 the number of processes of each call without a limit of its own is bounded, also for root, and others start meanwhile', { skip }, async t => {
  const tools = await boxedTools(t)
  const devour = async (): Promise<number> => {
    const { taken } = outputOf(await tools.run({ program, arguments: { what: 'processes' }, timeoutMs: 60_000 })) as { taken: number }
    return taken
  }
  const alone = await devour()
  t.ok(alone > 100 && alone <= 272, `it got ${alone} processes`)
  const stop = new AbortController()
  const bombs = Array.from({ length: 4 }, () => tools.shell('n=0; while [ $n -lt 600 ]; do sleep 600 & n=$((n+1)); done; wait', { signal: stop.signal }))
  for (let call = 0; call < 10; call++) t.equal(outputOf(await tools.shell('sleep 0.1 & wait; echo fine')), 'fine')
  stop.abort()
  for (const bomb of bombs) t.match(await bomb, { ok: false })
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

void t.test('fault 16 a Python host and its templates are in one control group of their own', { skip }, async t => {
  const python = await boxedPython(t)
  const stop = new AbortController()
  const running = python.execute('sleeper', 'print("runs", flush=True)\ntime.sleep(600)', { signal: stop.signal })
  await waitFor('it runs', () => python.logged.includes('runs'))
  const directory = toolsDirectory(python)
  const groups = readdirSync(directory).filter(name => /^(?:host|share)-/.test(name)).map(name => namesIn(join(directory, name)))
  const withHosts = groups.filter(names => names.filter(isOfHost).length > 2)
  t.equal(withHosts.length, 1)
  // bubblewrap's two, the host, and init and child of the template.
  t.ok(withHosts.flat().filter(isOfHost).length >= 5, withHosts.flat().join('\n'))
  stop.abort()
  t.match(await running, { ok: false })
})

void t.test('fault 16 a Python call that takes longer leaves the group of its host, with all that it has started', { skip }, async t => {
  const python = await boxedPython(t)
  const stop = new AbortController()
  const seconds = nap()
  const script = ['import subprocess', `for _ in range(3): subprocess.Popen(["sleep", "${seconds}"])`, 'time.sleep(600)'].join('\n')
  const running = python.execute('sleeper', script, { signal: stop.signal })
  const directory = toolsDirectory(python)
  const groups = (): string[][] => readdirSync(directory).filter(name => /^(?:host|share)-/.test(name)).map(name => namesIn(join(directory, name)))
  const isSleeper = (name: string): boolean => name === `sleep\0${seconds}\0`
  await waitFor('the call has a group', () => groups().some(names => names.filter(isSleeper).length === 3 && names.filter(isOfHost).length === 2))
  const withHosts = groups().filter(names => names.filter(isOfHost).length > 2)
  t.ok(withHosts.length === 1 && !withHosts.flat().some(isSleeper), 'the host is in another')
  stop.abort()
  t.match(await running, { ok: false })
  await waitFor('the group is gone', () => readdirSync(directory).filter(name => /^share-\d+$/.test(name)).length === 0)
})

/** Where the groups are that share out the processor. */
function toolsDirectory ({ sandbox }: { sandbox: { groups?: ProcessGroups | undefined } }): string {
  return dirname(sandbox.groups?.ofHelper().shares[0] ?? '')
}

function namesIn (group: string): string[] {
  const pids = readFileSync(join(group, 'cgroup.procs'), 'utf8').split('\n').filter(pid => pid !== '')
  return pids.map(pid => orElse(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), ''))
}

function isOfHost (name: string): boolean {
  return name.includes('toolyard_host.py')
}

void t.test('fault 16 however many processes a call starts, they have one share of the processor: a control group of their own', { skip }, async t => {
  const tools = await boxedTools(t)
  const directory = toolsDirectory(tools)
  const shares = (): string[][] => readdirSync(directory).filter(name => name.startsWith('share-')).map(name => namesIn(join(directory, name)))
  const stop = new AbortController()
  const lengths = [nap(), nap()]
  const sleepersOf = (seconds: string): string[][] => shares().map(names => names.filter(name => name === `sleep\0${seconds}\0`)).filter(names => names.length > 0)
  const calls: Array<Promise<Outcome>> = []
  for (const seconds of lengths) {
    calls.push(tools.shell(`sleep ${seconds} & sleep ${seconds} & sleep ${seconds}; true`, { signal: stop.signal }))
    await waitFor('all processes of the call run', () => sleepersOf(seconds).flat().length === 3)
    await waitFor('the helper has gone on', () => !shares().some(names => names.some(name => name.includes('helper.js')) && names.some(name => name.startsWith('sleep\0'))))
  }
  for (const seconds of lengths) t.equal(sleepersOf(seconds).length, 1, 'all of a call are in one group')
  t.notOk(shares().some(names => lengths.every(seconds => names.includes(`sleep\0${seconds}\0`))), 'and no two calls in the same')
  stop.abort()
  for (const call of calls) t.match(await call, { ok: false })
  const count = shares().length
  for (let call = 0; call < 30; call++) outputOf(await tools.shell('true'))
  t.ok(shares().length < count + 15, 'groups are used again')
})

void t.test('fault 16 calls that start at the same time have a control group each', { skip }, async t => {
  const tools = await boxedTools(t)
  const directory = toolsDirectory(tools)
  const stop = new AbortController()
  const lengths = Array.from({ length: 9 }, nap)
  const calls = lengths.map(async seconds => await tools.shell(`sleep ${seconds}`, { signal: stop.signal }))
  const sleepers = (): string[][] => readdirSync(directory).filter(name => name.startsWith('share-'))
    .map(name => namesIn(join(directory, name)).filter(each => lengths.some(seconds => each === `sleep\0${seconds}\0`)))
  await waitFor('all of them run', () => sleepers().flat().length === calls.length)
  t.strictSame(sleepers().filter(names => names.length > 1), [])
  stop.abort()
  for (const call of calls) t.match(await call, { ok: false })
})

void t.test('fault 16 a call has a control group of its own, though one could not be made before it', { skip }, async t => {
  const tools = await boxedTools(t)
  const directory = toolsDirectory(tools)
  const share = (number: number): string => join(directory, `share-0-${number}`)
  const numbers = (): number[] => readdirSync(directory).flatMap(name => /^share-0-(\d+)$/.exec(name)?.slice(1).map(Number) ?? [])
  const isInShare = (seconds: string): boolean => numbers().some(number => namesIn(share(number)).includes(`sleep\0${seconds}\0`))
  const stop = new AbortController()
  const calls: Array<Promise<Outcome>> = []
  const begin = async (): Promise<void> => {
    const seconds = nap()
    calls.push(tools.shell(`sleep ${seconds}`, { signal: stop.signal }))
    await waitFor('it is in a group for one call', () => isInShare(seconds))
  }
  await begin()
  const taken = Math.max(...numbers()) + 2
  mkdirSync(share(taken))
  while (Math.max(...numbers()) <= taken) await begin()
  await begin()
  stop.abort()
  for (const call of calls) t.match(await call, { ok: false })
  rmdirSync(share(taken))
})

void t.test('fault 10 no control group of a call or a worker is left behind', { skip }, async t => {
  const tools = await boxedTools(t)
  // With version 2 the processes are one level below.
  const directories = (tools.sandbox.groups?.ofHelper().members ?? []).map(file => file.replace(/(\/tools)?\/cgroup\.procs$/, ''))
  t.ok(directories.length > 0 && directories.every(existsSync))
  await Promise.all(Array.from({ length: 5 }, async () => { outputOf(await tools.shell('sleep 600 & true', { limits: { processes: 50 } })) }))
  t.strictSame(directories.flatMap(directory => readdirSync(directory)).filter(name => name.startsWith('call-')), [])
  await tools.executors.close()
  tools.sandbox.close()
  await waitFor('the groups of the worker are gone', () => !directories.some(existsSync))
})
