import { spawnSync } from 'node:child_process'
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { toolyardProgram as program } from '../cli/toolyard.ts'

const someUser = 1_000

function doctor (t: Test, env: Record<string, string>): { status: number | null, output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'doctor'], { cwd: t.testdir(), env: { PATH: process.env['PATH'], ...env }, encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

void t.test('the doctor shows the layers of the sandbox and the manifests, and exits 0 without an error', async t => {
  const { status, output } = doctor(t, {})
  t.match(output, /Sandbox: bubblewrap/)
  t.match(output, /Manifests/)
  t.notMatch(output, /there are no Python tools/, 'each layer is tried')
  t.equal(status, output.includes('ERROR') ? 1 : 0)
})

void t.test('the doctor warns of variables that look like settings, and shows their names without their values', async t => {
  const { output } = doctor(t, { TOOL_MANIFEST: 'a-value', WORKSPACE_ROOT: 'a-value', TOOLYARD_NONSENSE: 'a-value', SANDBOX: 'off' })
  t.match(output, /warning +Settings +TOOL_MANIFEST\b.*TOOL_MANIFESTS/)
  t.match(output, /warning +Settings +WORKSPACE_ROOT\b.*WORKSPACE_DIR/)
  t.match(output, /warning +Settings +TOOLYARD_NONSENSE/)
  t.notMatch(output, 'a-value')
})

void t.test('a user who may make no control groups reads in the doctor what that means and what gives them: the box is full all the same', async t => {
  const cwd = mkdtempSync(join(tmpdir(), 'toolyard-doctor-'))
  t.teardown(() => { rmSync(cwd, { recursive: true, force: true }) })
  const isRoot = process.getuid?.() === 0
  if (isRoot) chownSync(cwd, someUser, someUser)
  const { stdout } = spawnSync(process.execPath, [program, 'doctor'], {
    cwd, env: { PATH: process.env['PATH'], HOME: cwd }, encoding: 'utf8', ...isRoot && { uid: someUser, gid: someUser }
  })
  if (/Sandbox: cgroup +holds/.test(stdout) || !stdout.includes('Sandbox: cgroup')) return t.pass('this user may make control groups')
  t.match(stdout, /warning +Sandbox: cgroup +full; without control groups memoryBytes counts for each process of a call\. A systemd unit with Delegate=memory pids cpu gives them \(/)
})

void t.test('the .env of a foreign directory runs no code: not in the doctor, not in the programs that it asks', async t => {
  const cwd = t.testdir({ seen: {}, bin: {}, 'evil.cjs': 'require("node:fs").writeFileSync(__dirname + "/seen/node", "")' })
  for (const name of ['redis-server', 'bwrap', 'python3', 'setpriv']) writeFileSync(join(cwd, 'bin', name), `#!/bin/sh\ntouch ${cwd}/seen/${name}\n`, { mode: 0o755 })
  // With these, the loader of each program writes a file before the program's own code.
  const lines = ['LD_DEBUG=libs', `LD_DEBUG_OUTPUT=${cwd}/seen/ld`, `NODE_OPTIONS=--require=${cwd}/evil.cjs`, `PATH=${cwd}/bin`, `PYTHONPATH=${cwd}`, `BASH_ENV=${cwd}/evil.sh`]
  writeFileSync(join(cwd, '.env'), lines.join('\n'))
  const { stdout } = spawnSync(process.execPath, [program, 'doctor'], { cwd, env: { PATH: process.env['PATH'] }, encoding: 'utf8' })
  t.strictSame(readdirSync(join(cwd, 'seen')), [])
  t.match(stdout, /warning +Settings +LD_DEBUG in /)
})

void t.test('programs that the doctor asks get no key', async t => {
  const cwd = t.testdir({ bin: {} })
  writeFileSync(join(cwd, 'bin/redis-server'), `#!/bin/sh\nexport >> ${cwd}/seen\necho 'Redis server v=7.0.0'\n`, { mode: 0o755 })
  spawnSync(process.execPath, [program, 'doctor'], { cwd, env: { PATH: `${cwd}/bin:${process.env['PATH']}`, API_KEY: 'a-secret', WEATHER_TOKEN: 'a-secret', SANDBOX: 'off' }, encoding: 'utf8' })
  t.notMatch(readFileSync(join(cwd, 'seen'), 'utf8'), 'a-secret')
})

void t.test('the doctor exits 1 when Redis does not answer', async t => {
  const { status, output } = doctor(t, { REDIS_URL: 'redis://127.0.0.1:1', SANDBOX: 'off' })
  t.match(output, /ERROR .*Redis .*does not answer/)
  t.match(output, /SANDBOX=off/)
  t.equal(status, 1)
})

void t.test('fault 18 a required sandbox that is missing is an error', async t => {
  const { status, output } = doctor(t, { PATH: '/no/such/directory', SANDBOX: 'require' })
  t.match(output, /ERROR .*Sandbox: bubblewrap .*there is no bwrap/)
  t.equal(status, 1)
})

void t.test('the doctor exits 1 for a file of rules with which no call would run', async t => {
  const file = join(mkdtempSync(join(tmpdir(), 'toolyard-doctor-')), 'rules.json')
  t.teardown(() => { rmSync(dirname(file), { recursive: true, force: true }) })
  writeFileSync(file, '{"rules": []}')
  const { status, output } = doctor(t, { POLICY_FILE: file, SANDBOX: 'off' })
  t.match(output, /ERROR +Manifests +\S+rules\.json:1: is no list of rules\. Write \[\{"when"/)
  t.equal(status, 1)
})

void t.test('the doctor looks at the manifest that a start in its directory would take', async t => {
  const cwd = t.testdir({ 'tools.json': JSON.stringify({ tools: [{ name: 'bare', description: 'x', schema: { type: 'object' }, command: ['bare.sh'] }] }) })
  const { stdout, status } = spawnSync(process.execPath, [program, 'doctor'], { cwd, env: { PATH: process.env['PATH'], SANDBOX: 'off' }, encoding: 'utf8' })
  t.match(stdout, /ERROR +Manifests +\S*tools\.json\S*: .*"bare": relative command\[0\] must start with/)
  t.equal(status, 1)
})
