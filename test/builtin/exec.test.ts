import { orElse } from '@toolyard/contract/terms'
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { Outcome, RunContext } from '@toolyard/executors'
import { createFixture, isAlive, outputOf, type Fixture } from '../executors/fixture.ts'
import { waitFor } from '../support/condition.ts'

const node = process.execPath

function createExec (
  t: Test, allowlist: string[], env: NodeJS.ProcessEnv = process.env
): Fixture & { exec: (args: Record<string, unknown>, context?: Partial<RunContext>) => Promise<Outcome> } {
  const fixture = createFixture(t, { env, builtins: { exec: { allowlist } } })
  return { ...fixture, exec: async (args, context) => await fixture.runBuiltin('tool.exec', args, context) }
}

t.test('RC41 an allowed program runs in the workspace, and its output comes back', async t => {
  const { exec, workspace } = createExec(t, [node])
  const args = ['-e', 'console.log(process.cwd()); console.error(JSON.stringify(process.argv.slice(1)))', 'a b', '$HOME', ';', '']
  const output = outputOf(await exec({ command: node, args })) as Record<string, unknown>
  t.match(output, { command: node, args, stdout: `${realpathSync(workspace)}\n`, stderr: `${JSON.stringify(['a b', '$HOME', ';', ''])}\n`, code: 0, duration_ms: Number })
})

t.test('RC41 cwd is a directory of the workspace', async t => {
  const { exec, workspace } = createExec(t, [node])
  mkdirSync(join(workspace, 'sub'))
  t.match(outputOf(await exec({ command: node, args: ['-p', 'process.cwd()'], cwd: 'sub' })), { stdout: `${realpathSync(workspace)}/sub\n` })
  t.match(await exec({ command: node, cwd: '..' }), { ok: false, error: { message: 'path escapes workspace root' } })
})

t.test('RC41 B30 only what the allowlist names runs, by exact path or name', async t => {
  const { exec, workspace } = createExec(t, ['ls', '/usr/bin/env', './local'])
  writeFileSync(join(workspace, 'ls'), '#!/bin/sh\necho planted', { mode: 0o755 })
  for (const command of ['sh', 'sh -c ls', 'ls -l', './ls', join(workspace, 'ls'), '/bin/../bin/ls', 'env', './local', '../bin/ls', 'LS', 'ls\0', `ls${'x'.repeat(50)}`]) {
    t.match(await exec({ command }), { ok: false, error: { code: 'NOT_ALLOWED', message: `command not allowed: ${command}` } }, command)
  }
  t.match(await exec({ command: 'ls' }), { ok: true, output: { stdout: 'ls\n' } })
  t.match(await exec({ command: '/usr/bin/env', args: ['true'] }), { ok: true })
  t.match(await createExec(t, []).exec({ command: 'ls' }), { ok: false, error: { code: 'NOT_ALLOWED' } })
})

t.test('B30 a shell runs only when it is asked for, and never for another program', async t => {
  const { exec } = createExec(t, ['sh'])
  t.match(outputOf(await exec({ command: 'sh', args: ['-c', 'echo $((1 + 1))'] })), { stdout: '2\n' })
  t.match(await exec({ command: 'echo', args: ['x'] }), { ok: false, error: { message: 'command not allowed: echo' } })
})

t.test('B30 fault 12 the program sees PATH and HOME, and no secret', async t => {
  const { exec } = createExec(t, [node], { PATH: '/usr/bin:/bin', HOME: '/home/x', API_KEYS_JSON: 'secret', REDIS_URL: 'secret' })
  const { stdout } = outputOf(await exec({ command: node, args: ['-p', 'JSON.stringify(Object.keys(process.env).sort())'] })) as { stdout: string }
  // The test runner adds variables of its own to every process below it.
  t.same((JSON.parse(stdout) as string[]).filter(name => !/^(?:NODE_OPTIONS$|_TAPJS)/.test(name)), ['HOME', 'LANG', 'PATH'])
})

t.test('RC41 a failure carries the end of what was printed', async t => {
  const { exec } = createExec(t, [node, 'sh'])
  t.match(await exec({ command: node, args: ['-e', 'console.log("out"); console.error("err"); process.exit(3)'] }), {
    ok: false, error: { code: 'TOOL_FAILED', message: 'tool.exec failed with exit 3', details: { code: 3, stdout_tail: 'out\n', stderr_tail: 'err\n' } }
  })
  t.match(await exec({ command: 'sh', args: ['-c', 'kill $$'] }), { ok: false, error: { message: 'tool.exec failed with signal SIGTERM' } })
})

t.test('RC41 a program that runs too long is ended, with all that it started', async t => {
  const { exec, workspace } = createExec(t, ['sh'])
  const script = 'sleep 60 & echo $! > pid; echo begun; wait'
  t.match(await exec({ command: 'sh', args: ['-c', script], timeout_ms: 3_000 }), { ok: false, error: { code: 'TOOL_TIMEOUT', message: 'tool.exec timeout', details: { timeout_sec: 3, stdout_tail: 'begun\n' } } })
  t.notOk(isAlive(Number(readFileSync(join(workspace, 'pid'), 'utf8'))))
})

t.test('fault 9 a cancel is answered after the program has ended', async t => {
  const { exec, workspace } = createExec(t, ['sh'])
  const stop = new AbortController()
  const run = exec({ command: 'sh', args: ['-c', 'echo $$ > pid.new; mv pid.new pid; sleep 60'] }, { signal: stop.signal })
  await waitFor('the program runs', () => orElse(() => readFileSync(join(workspace, 'pid'), 'utf8') !== '', false))
  stop.abort()
  t.match(await run, { ok: false, error: { code: 'JOB_CANCELLED' } })
  t.notOk(isAlive(Number(readFileSync(join(workspace, 'pid'), 'utf8'))))
})

t.test('RC41 stdout has at most 256,000 characters', async t => {
  const { exec } = createExec(t, [node])
  const { stdout } = outputOf(await exec({ command: node, args: ['-e', 'process.stdout.write("x".repeat(300000))'] })) as { stdout: string }
  t.equal(stdout.length, 256_000)
})

t.test('RC41 a program of the allowlist that is not installed gives an error that says so', async t => {
  t.match(await createExec(t, ['no-such-program']).exec({ command: 'no-such-program' }), { ok: false, error: { code: 'TOOL_UNAVAILABLE', message: 'command not found: no-such-program' } })
  t.match(await createExec(t, ['x']).exec({}), { ok: false, error: { message: 'command is required' } })
})

t.test('X34 each run leaves one line in the audit', async t => {
  const fixture = createExec(t, [node])
  await fixture.exec({ command: node, args: ['-e', ''] })
  t.match(await fixture.auditLines(), [{ tool: 'sample', argv: [node, '-e', ''], exit: 0 }])
})
