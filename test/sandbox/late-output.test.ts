import { spawnSync } from 'node:child_process'
import { PassThrough } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { runProcess, type ProcessHost, type Started } from '@toolyard/sandbox'

const plan = { program: '/bin/true', args: [], env: {}, cwd: '/' }

/** A process that has ended, whose output comes a few turns of the event loop later. */
function endedProcess (): { started: Started, send: () => Promise<void> } {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const closed = Promise.all([stdout, stderr].map(async stream => { await new Promise(resolve => { stream.once('close', resolve) }) })).then(() => true as const)
  const started: Started = {
    started: true,
    child: { pid: spawnSync('/bin/true').pid, stdout, stderr, exited: Promise.resolve({ kind: 'exit', code: 0 }), closed, release: () => {} },
    box: undefined
  }
  return {
    started,
    async send () {
      for (let turns = 0; turns < 5; turns++) await turn()
      stdout.end('all of it')
      stderr.end()
    }
  }
}

for (const by of ['cancel', 'timeout'] as const) {
  void t.test(`a ${by} that comes when a tool has ended, and before its output is read, loses no output`, async t => {
    const { started, send } = endedProcess()
    const cancel = new AbortController()
    const host = { ready: async () => await Promise.resolve(started), onSurvivors: () => {} } as unknown as ProcessHost
    const run = runProcess(plan, {
      stdin: '', timeoutMs: by === 'timeout' ? 1 : 10_000, signal: cancel.signal, maxOutputBytes: 1_000, onLine: () => {}
    }, host)
    await turn()
    if (by === 'cancel') cancel.abort()
    await send()
    const { ending, stdout } = await run
    t.same(ending, { kind: 'exit', code: 0 })
    t.equal(stdout.kept.toString(), 'all of it')
  })
}
