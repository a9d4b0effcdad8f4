import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { isAlive, outputOf } from '../executors/fixture.ts'
import { boxedTools, withoutBox } from '../sandbox/boxed-tools.ts'
import { nap, running } from '../sandbox/running.ts'
import { waitFor } from '../support/condition.ts'

const skip = await withoutBox()
const writing = { permissions: ['write_files'] as const }

/** Milliseconds of processor time that this process spends on one of some runs. */
async function costOf (run: () => Promise<unknown>): Promise<number> {
  for (let warm = 0; warm < 3; warm++) await run()
  const before = process.cpuUsage()
  for (let count = 0; count < 25; count++) await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 25_000
}

/** The process that starts tools for this one: a child, or further down where it is in a namespace of its own. */
function helperPid (): number {
  const found = readdirSync('/proc').map(Number).find(pid => {
    try {
      return readFileSync(`/proc/${pid}/comm`, 'latin1') === 'node\n' && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('launch/helper.js') && descends(pid)
    } catch {
      return false
    }
  })
  if (found === undefined) throw new Error('there is no helper')
  return found
}

function descends (pid: number): boolean {
  const parent = Number(/ \(.*\) . (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1])
  return parent === process.pid || (parent > 1 && descends(parent))
}

void t.test('fault 11 a worker that has grown by 250 MB starts processes as fast as before', { skip }, async t => {
  const tools = await boxedTools(t)
  await tools.executors.prepare()
  const run = async (): Promise<unknown> => outputOf(await tools.run({ program: '/bin/true' }))
  const small = await costOf(run)
  const ballast = Buffer.alloc(250 * 2 ** 20, 1)
  const grown = await costOf(run)
  t.comment(`${small.toFixed(2)} ms of processor time for a call, ${grown.toFixed(2)} ms with ${ballast.length / 2 ** 20} MB more`)
  t.ok(grown < small * 2 + 3, 'a spawn from this process would take some 15 ms more')
})

void t.test('fault 11 fault 1 when the start helper is killed, its calls fail, none of their processes lives on, and the next calls run', { skip }, async t => {
  const tools = await boxedTools(t)
  const seconds = nap()
  const lost = tools.shell(`setsid sleep ${seconds} & sleep ${seconds}`)
  await waitFor('the tool is up', () => running('sleep', seconds).length === 2)
  process.kill(helperPid(), 'SIGKILL')
  t.match(await lost, { ok: false, error: { code: 'WORKER_LOST' } })
  await waitFor('its processes are gone', () => running('sleep', seconds).length === 0)
  t.equal(outputOf(await tools.shell('echo fine')), 'fine')
})

void t.test('fault 11 fault 21 a call that is starting when the helper is killed is lost, and its error never says that it has not run when it has', { skip }, async t => {
  const tools = await boxedTools(t)
  await tools.executors.prepare()
  for (let ms = 0; ms < 24; ms += 2) {
    outputOf(await tools.shell('true'))
    const file = `begun-${ms}`
    const seconds = nap()
    const runs = Array.from({ length: 4 }, async () => await tools.shell(`echo $$ >> ${file}; sleep ${seconds}`, { timeoutMs: 30_000, ...writing }))
    await sleep(ms)
    process.kill(helperPid(), 'SIGKILL')
    const codes = (await Promise.all(runs)).map(outcome => outcome.ok ? 'ok' : outcome.error.code)
    const lost = codes.filter(code => code === 'WORKER_LOST').length
    t.ok(lost + codes.filter(code => code === 'INTERNAL').length === codes.length, codes.join())
    const path = join(tools.workspace, file)
    t.ok((existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n').length : 0) <= lost, `after ${ms} ms`)
    await waitFor('nothing is left', () => running('sleep', seconds).length === 0)
  }
})

void t.test('fault 11 a call keeps its timeout when the start helper stops, is never begun after it, and later calls get another helper', { skip }, async t => {
  // A box that was made ahead needs no helper to begin.
  const tools = await boxedTools(t, { stock: { maxBytes: 0 } })
  outputOf(await tools.shell('true'))
  const helper = helperPid()
  process.kill(helper, 'SIGSTOP')
  const begun = performance.now()
  t.match(await tools.shell('touch began', { timeoutMs: 500, startable: false, ...writing }), { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  t.match(await tools.shell('touch began', { signal: AbortSignal.timeout(100), startable: false, ...writing }), { ok: false, error: { code: 'JOB_CANCELLED' } })
  t.ok(performance.now() - begun < 8_000)
  process.kill(helper, 'SIGCONT')
  t.equal(outputOf(await tools.shell('echo fine')), 'fine', 'the helper goes on')
  t.equal(helperPid(), helper)
  t.notOk(existsSync(join(tools.workspace, 'began')), 'nobody waits for it any more')

  process.kill(helper, 'SIGSTOP')
  t.match(await tools.shell('touch began', { timeoutMs: 30_000, startable: false, ...writing }), { ok: false, error: { code: 'WORKER_LOST' } })
  t.notOk(isAlive(helper))
  t.equal(outputOf(await tools.shell('echo fine')), 'fine', 'another helper')
  t.notOk(existsSync(join(tools.workspace, 'began')))
})

void t.test('fault 11 a call whose process runs keeps its timeout when the start helper stops, and a worker ends beside such a helper', { skip }, async t => {
  const tools = await boxedTools(t)
  const seconds = nap()
  const call = tools.shell(`sleep ${seconds}`, { timeoutMs: 1_500 })
  await waitFor('the tool is up', () => running('sleep', seconds).length > 0)
  const helper = helperPid()
  process.kill(helper, 'SIGSTOP')
  t.match(await call, { ok: false, error: { code: 'TOOL_TIMEOUT' } })
  t.strictSame(running('sleep', seconds), [])
  await tools.executors.close()
  t.notOk(isAlive(helper))
})

void t.test('fault 11 a call in a box that was made ahead runs though the helper has stopped, and keeps its timeout', { skip }, async t => {
  const tools = await boxedTools(t)
  await tools.stock(writing)
  const helper = helperPid()
  process.kill(helper, 'SIGSTOP')
  const outcome = await tools.shell('touch began', { timeoutMs: 1_500, ...writing })
  t.ok(existsSync(join(tools.workspace, 'began')))
  t.match(outcome, { ok: false, error: { code: 'TOOL_TIMEOUT' } }, 'nobody tells its end')
  process.kill(helper, 'SIGCONT')
})
