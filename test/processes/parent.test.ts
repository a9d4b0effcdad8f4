import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

for (const app of ['api', 'worker'] as const) {
  t.test(`the ${app} ends when its parent is gone before it serves`, async t => {
    const dir = await mkdtemp(join(tmpdir(), 'toolyard-test-'))
    t.teardown(() => rm(dir, { recursive: true, force: true }))
    const entry = fileURLToPath(import.meta.resolve(`@toolyard/${app}`)).replace(/index\.js$/, 'server.js')
    // A Redis that isn't there: a worker waits for it.
    const env = { PATH: process.env['PATH'], HOME: dir, PORT: '0', API_KEY: 'test-key-0123456789abcdef', REDIS_URL: `unix:${dir}/none.sock`, WORKSPACE_DIR: join(dir, 'workspace'), TOOL_MANIFESTS: '', AUDIT_DIR: join(dir, 'audit') }
    for (const isStarting of [true, false]) {
      const child = fork(entry, [], { cwd: dir, env, execArgv: [], silent: true })
      const ended = once(child, 'exit')
      if (isStarting) await once(child, 'spawn')
      else await Promise.race([once(child.stdout ?? child, 'data'), once(child.stderr ?? child, 'data')])
      t.teardown(() => child.kill('SIGKILL'))
      child.disconnect()
      const [, signal] = await ended as [number | null, string | null]
      t.equal(signal, null, 'it ended by itself')
    }
  })
}
