import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { createFixture, errorOf, isAlive, linuxPython, outputOf, toolClass } from './fixture.ts'
import { waitFor } from '../support/condition.ts'

const pids = toolClass('with open("/proc/%d/stat" % os.getppid()) as stat: return [os.getpid(), os.getppid(), int(stat.read().split()[3])]', 'Pids')
const waiting = toolClass('print("up")\nwhile not os.path.exists("go"): time.sleep(0.01)\nreturn "done"', 'Waiting')

t.test('when a template is killed its calls fail, and the next call gets a new one', linuxPython, async t => {
  const fixture = await createFixture(t, { open: true })
  fixture.source('tool.py', waiting + pids)
  const running = fixture.run({ className: 'Waiting' })
  await waitFor('the call runs', () => fixture.logged.includes('up'))
  const [, template, host] = outputOf(await fixture.run({ className: 'Pids' })) as number[]
  process.kill(Number(template), 'SIGKILL')
  t.equal(errorOf(await running), 'INTERNAL: the Python host ended while the tool ran')
  const [, newTemplate, sameHost] = outputOf(await fixture.run({ className: 'Pids' })) as number[]
  t.not(newTemplate, template)
  t.equal(sameHost, host)
})

t.test('a process for the next call is forked in advance, and replaced when it is killed', linuxPython, async t => {
  const fixture = await createFixture(t, { open: true })
  fixture.source('tool.py', pids)
  const [first, template] = outputOf(await fixture.run()) as number[]
  await waitFor('one waits', () => childrenOf(template).length === 1 && !childrenOf(template).includes(Number(first)))
  const [waiting] = childrenOf(template)
  const [second] = outputOf(await fixture.run()) as number[]
  t.equal(second, waiting)
  await waitFor('another waits', () => childrenOf(template).length === 1 && !childrenOf(template).includes(Number(second)))
  const [killed] = childrenOf(template)
  process.kill(Number(killed), 'SIGKILL')
  await waitFor('it is reaped', () => !childrenOf(template).includes(Number(killed)))
  const [third, sameTemplate] = outputOf(await fixture.run()) as number[]
  t.not(third, killed)
  t.equal(sameTemplate, template)
})

t.test('a process that was forked in advance runs no source that has changed since', linuxPython, async t => {
  const fixture = await createFixture(t, { open: true })
  fixture.source('tool.py', toolClass('return ["old", os.getppid()]'))
  const [, template] = outputOf(await fixture.run()) as [string, number]
  await waitFor('one waits', () => childrenOf(template).length === 1)
  fixture.source('tool.py', toolClass('return ["changed", os.getppid()]'))
  t.equal((outputOf(await fixture.run()) as string[])[0], 'changed')
  await waitFor('the old ones are gone', () => !isAlive(template))
})

t.test('a tool that kills its template fails no other call, and is killed', linuxPython, async t => {
  const fixture = await createFixture(t, { open: true })
  fixture.source('other.py', waiting)
  const beside = fixture.run({ module: 'other' })
  await waitFor('the other call runs', () => fixture.logged.includes('up'))
  const outcome = await fixture.execute('open("pid", "w").write(str(os.getpid()))\nos.kill(os.getppid(), signal.SIGKILL)\ntime.sleep(60)')
  t.equal(errorOf(outcome), 'INTERNAL: the Python host ended while the tool ran')
  t.notOk(isAlive(Number(fixture.written('pid'))))
  t.equal(outputOf(await fixture.execute('open("go", "w")')), null)
  t.equal(outputOf(await beside), 'done')
})

t.test('a host that is killed is started again, and running calls end by themselves', linuxPython, async t => {
  const fixture = await createFixture(t, { open: true })
  fixture.source('tool.py', waiting + pids)
  const running = fixture.run({ className: 'Waiting' })
  await waitFor('the call runs', () => fixture.logged.includes('up'))
  const [, , host] = outputOf(await fixture.run({ className: 'Pids' })) as number[]
  process.kill(Number(host), 'SIGKILL')
  await waitFor('the host is dead', () => !isAlive(Number(host)))
  const [, , newHost] = outputOf(await fixture.run({ className: 'Pids' })) as number[]
  t.not(newHost, host)
  t.equal(outputOf(await fixture.execute('open("go", "w")')), null)
  t.equal(outputOf(await running), 'done')
})

t.test('a call keeps its timeout when the template of its module stops, and later calls get another one', linuxPython, async t => {
  const fixture = await createFixture(t, { open: true })
  fixture.source('tool.py', toolClass('open("called", "w")', 'Calling') + pids)
  const [, template, host] = outputOf(await fixture.run({ className: 'Pids' })) as number[]
  process.kill(Number(template), 'SIGSTOP')
  const begun = performance.now()
  t.match(await fixture.run({ className: 'Calling', timeoutMs: 500 }), { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  t.match(await fixture.run({ className: 'Calling', signal: AbortSignal.timeout(100) }), { ok: false, error: { code: 'JOB_CANCELLED' } })
  t.ok(performance.now() - begun < 8_000)
  const [, newTemplate, sameHost] = outputOf(await fixture.run({ className: 'Pids' })) as number[]
  t.not(newTemplate, template)
  t.equal(sameHost, host)
  await waitFor('the stopped one is gone', () => !isAlive(Number(template)))
  t.notOk(fixture.has('called'), 'nobody waits for it any more')
})

t.test('close ends hosts and templates, and what their modules started', linuxPython, async t => {
  const fixture = await createFixture(t, { open: true })
  fixture.source('tool.py', 'helper = subprocess.Popen(["sleep", "60"], start_new_session=True)\nclass Pids(Tool):\n    def execute(self): return [helper.pid, os.getpid(), os.getppid()]')
  const processes = outputOf(await fixture.run()) as number[]
  t.same(processes.map(isAlive), [true, false, true], 'a helper of the module outlives its calls')
  await fixture.executors.close()
  t.same(processes.filter(isAlive), [])
})

t.test('close waits for running calls, and not for imports', linuxPython, async t => {
  const fixture = await createFixture(t, { open: true })
  fixture.source('stuck.py', 'open("importing", "w").write(str(os.getpid()))\ntime.sleep(60)')
  t.match(await fixture.run({ module: 'stuck', timeoutMs: 1_500 }), { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  const run = fixture.execute('time.sleep(0.5)\nreturn "finished"')
  await fixture.executors.close()
  t.equal(outputOf(await run), 'finished')
  t.notOk(isAlive(Number(fixture.written('importing'))))
})

t.test('close leaves no directory', linuxPython, async t => {
  const fixture = await createFixture(t, { open: true })
  const before = new Set(receptions())
  t.equal(outputOf(await fixture.execute('return 1')), 1)
  const added = receptions().filter(name => !before.has(name))
  await fixture.executors.close()
  t.ok(added.length > 0)
  t.ok(receptions().filter(name => added.includes(name)).length < added.length)
})

t.test('a worker that is killed leaves no host, no template and no call', linuxPython, async t => {
  const fixture = await createFixture(t, { open: true })
  fixture.source('tool.py', toolClass('open("pids.part", "w").write(f"{os.getpid()} {os.getppid()} {os.getpgid(os.getppid())}")\nos.rename("pids.part", "pids")\ntime.sleep(60)'))
  fixture.source('importing.py', 'open("importing.part", "w").write(f"{os.getpid()} {os.getppid()}")\nos.rename("importing.part", "importing")\ntime.sleep(60)')
  const before = new Set(receptions())
  const runs = ['tool', 'importing'].map(module => JSON.stringify(fixture.tool({ module }).run))
  const worker = fork(new URL('./plain-worker.js', import.meta.url), [fixture.workspace, ...runs], { stdio: 'ignore' })
  t.teardown(() => { worker.kill('SIGKILL') })
  await waitFor('the worker is busy', () => fixture.has('pids') && fixture.has('importing'))
  const left = `${fixture.written('pids')} ${fixture.written('importing')}`.split(' ').map(Number)
  t.same(left.map(isAlive), left.map(() => true))
  worker.kill('SIGKILL')
  await once(worker, 'exit')
  await waitFor('all are dead', () => !left.some(isAlive))
  await waitFor('its directory is gone', () => receptions().every(name => before.has(name)))
  t.pass()
})

function receptions (): string[] {
  return readdirSync(tmpdir()).filter(name => name.startsWith('toolyard-') && existsSync(join(tmpdir(), name, 'reception')))
}

t.test('a process that nobody asked for gets no connection', linuxPython, async t => {
  const fixture = await createFixture(t, { open: true })
  const body = `import socket
path = arguments["path"]
results = []
for hello in ["0" * 32 + "c", "x" * 5, "f" * 4096]:
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(20)
    connection.connect(path)
    connection.sendall(hello.encode())
    connection.shutdown(socket.SHUT_WR)
    try: results.append(len(connection.recv(10)))
    except ConnectionError: results.append(0)
return [results, oct(os.stat(os.path.dirname(path)).st_mode & 0o777)]`
  const own = mkdtempSync(join(tmpdir(), 'toolyard-own-'))
  const usual = process.env['TMPDIR']
  process.env['TMPDIR'] = own
  t.teardown(() => {
    if (usual === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = usual
    rmSync(own, { recursive: true, force: true })
  })
  fixture.source('tool.py', pids)
  outputOf(await fixture.run())
  const path = receptions().map(name => join(own, name, 'reception'))[0]
  t.same(outputOf(await fixture.execute(body, { arguments: { path } })), [[0, 0, 0], '0o700'])
})

function childrenOf (pid: number | undefined): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(text => text !== '').map(Number)
}
